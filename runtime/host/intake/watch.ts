import { readFileSync } from "node:fs";
import type { Config } from "../../contract/config/index.ts";
import { readConfigText } from "../../contract/config/text.ts";
import { PLATFORM_TITLES } from "../../contract/delivery.ts";
import type { Environment } from "../../contract/environment.ts";
import type { Log } from "../../shared/log.ts";
import type { Sql } from "../../edge/ledger/sql.ts";
import type { Clock, Ledger } from "../../edge/ports.ts";
import { fileVersion } from "../../process/files.ts";
import type { FetchedPlatform } from "../../process/intake.ts";

const LOOK_EVERY_MS = 1_000;

export interface Source {
  start(): void;
  stop(): Promise<void>;
}

export interface IntakeOptions {
  configPath: string;
  environment: Environment;
  sql: Sql;
  ledger: Pick<Ledger, "admit">;
  clock: Clock;
  log: Log;
}

/** Reason why this process does not fetch a platform's events. */
export interface Off {
  kind: "none";
  why: string;
}

/** Options of {@link IntakeWatch}. `Mode` must be serializable as JSON. */
export interface WatchOptions<Platform extends FetchedPlatform, Mode extends { kind: string }> {
  platform: Platform;
  configPath: string;
  environment: Environment;
  read(section: NonNullable<Config["channels"][Platform]>): Mode | Off;
  create(mode: Mode): Source;
  log: Log;
}

/** Receives a platform's events in the mode that the config file sets. Checks the file every second. */
export class IntakeWatch<Platform extends FetchedPlatform, Mode extends { kind: string }> {
  readonly #options: WatchOptions<Platform, Mode>;
  readonly #title: string;
  #timer: NodeJS.Timeout | undefined;
  #seen: string | undefined;
  #mode = JSON.stringify({ kind: "none" });
  #source: Source | undefined;
  #changing = Promise.resolve();
  #stopped = false;

  constructor(options: WatchOptions<Platform, Mode>) {
    this.#options = options;
    this.#title = PLATFORM_TITLES[options.platform];
  }

  start(): void {
    this.#check();
    if (!this.#stopped) this.#timer = setTimeout(() => this.start(), LOOK_EVERY_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#changing;
    await this.#source?.stop();
  }

  #check(): void {
    const { configPath, log } = this.#options;
    try {
      const seen = fileVersion(configPath);
      if (seen === this.#seen) return;
      const mode = this.#read(seen === "missing" ? undefined : readFileSync(configPath, "utf8"));
      this.#seen = seen;
      const text = JSON.stringify(mode);
      if (text === this.#mode) return;
      this.#mode = text;
      this.#changing = this.#changing
        .then(() => this.#change(mode))
        .catch((error: unknown) => {
          // Read the file again at the next check, as if it had changed.
          this.#seen = undefined;
          this.#mode = "";
          log.error(`the intake of ${this.#title} cannot be started`, { error: String(error) });
        });
    } catch (error) {
      log.error("the config file cannot be read", { error: String(error) });
    }
  }

  #read(text: string | undefined): Mode | Off {
    const { platform, environment, read } = this.#options;
    if (text === undefined) return { kind: "none", why: "there is no config file" };
    const { result } = readConfigText(text, environment);
    if (!result.ok) return { kind: "none", why: "the config file is not valid" };
    const section = result.config.channels[platform];
    if (!section?.enabled) return { kind: "none", why: `${this.#title} is not configured` };
    return read(section);
  }

  async #change(mode: Mode | Off): Promise<void> {
    const { create, log } = this.#options;
    await this.#source?.stop();
    this.#source = undefined;
    if (this.#stopped) return;
    if (isOff(mode)) log.info(`nothing is fetched from ${this.#title}`, { why: mode.why });
    else this.#source = create(mode);
    this.#source?.start();
  }
}

function isOff(mode: { kind: string }): mode is Off {
  return mode.kind === "none";
}
