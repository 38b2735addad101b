import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { checkConfig, type Config } from "../../../runtime/contract/config/index.ts";
import type { Announce, AnnounceRequest } from "../../../runtime/gateway/schedules/announce.ts";
import { Schedules } from "../../../runtime/gateway/schedules/schedules.ts";
import { ScheduleStore } from "../../../runtime/gateway/schedules/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
/** When every test begins. */
export const START = Date.parse("2026-11-20T12:00:00Z");
/** A chat, as the config names it. */
export const to = { platform: "slack", chat: "C1" };

/** A time as the config writes it, some minutes after the start. */
export const minute = (minutes: number): string => new Date(START + minutes * MINUTE).toISOString();

/** A config of these schedules, and of what else the agent has. */
export function config(schedules: object, agent: object = {}): Config {
  const result = checkConfig({ schedules, agent });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

/** An empty database, the time that its test moves, and what is logged. */
export class ScheduleStage {
  now = START;
  readonly logged: string[] = [];
  readonly #dir = mkdtempSync(join(tmpdir(), "steward-schedules-"));
  readonly database: DatabaseSync = openStore(join(this.#dir, "state.db"));

  close(): void {
    this.database.close();
    rmSync(this.#dir, { recursive: true });
  }

  /** A gateway's schedules on the test's clock. `said` lists what is due, with how many minutes after the start. */
  run(
    schedules: object,
    options: {
      agent?: object;
      serves?: string;
      say?: (request: AnnounceRequest) => ReturnType<Announce>;
    } = {},
  ) {
    const said: [minute: number, what: string][] = [];
    const requests: AnnounceRequest[] = [];
    // Timers go by a clock of their own, which nobody sets.
    let ticks = 0;
    let timer: { work: () => void; at: number } | undefined;
    const add = (message: string, fields: object = {}): void =>
      void this.logged.push(`${message} ${JSON.stringify(fields)}`);
    const store = new ScheduleStore(this.database);
    const runner = new Schedules({
      store,
      say: async (request) => {
        requests.push(request);
        said.push([(this.now - START) / MINUTE, request.text ?? request.prompt ?? ""]);
        return options.say ? options.say(request) : "said";
      },
      serves: options.serves,
      clock: () => this.now,
      setTimer: (work, ms) => {
        const mine = { work, at: ticks + ms };
        timer = mine;
        return () => void (timer === mine && (timer = undefined));
      },
      log: { debug: add, info: add, warn: add, error: add },
    });
    runner.start(config(schedules, options.agent));
    return {
      said,
      requests,
      runner,
      store,
      /** Lets the time pass, timer by timer. */
      pass: async (ms: number): Promise<void> => {
        const end = ticks + ms;
        const advance = (to: number): void => {
          this.now += to - ticks;
          ticks = to;
        };
        await runner.idle();
        while (timer !== undefined && timer.at <= end) {
          const { work, at } = timer;
          timer = undefined;
          advance(Math.max(ticks, at));
          work();
          await runner.idle();
        }
        advance(end);
      },
    };
  }
}
