import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../../rehearsal/ports.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { figure, type Figure } from "../support/measure.ts";
import { answersState } from "../support/ready.ts";
import type { RunOptions } from "./run.ts";
import { emptyHome } from "./start.ts";

const READY_MS = 60_000;
/** Time for the work after an answer. */
const AFTER_MS = 1_000;
/** The folders that are counted; code that they share is not. */
const ROOM = /\/runtime\/((?:edge|gateway)\/.+\.ts)$/;

interface FunctionCoverage {
  ranges: { startOffset: number; count: number }[];
}
interface Coverage {
  result: { url: string; functions: FunctionCoverage[] }[];
}

interface Inspector {
  ask(method: string, params?: object): Promise<unknown>;
  close(): void;
}

/**
 * Counts the files of edge and gateway that run code for one warm Slack message on a host, its answer included, by V8's
 * precise coverage of both processes, which run from their sources.
 */
export async function benchFiles({ surroundings, runs, folder }: RunOptions): Promise<Figure[]> {
  const counts: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const home = await emptyHome(join(folder, `files${run}`));
    counts.push((await filesOfMessage(surroundings, home)).size);
  }
  return [figure("files that run for one warm message", "count", counts, 60)];
}

async function filesOfMessage(
  { slack, environment }: RunOptions["surroundings"],
  home: string,
): Promise<Set<string>> {
  const [gatewayPort, supervisorPort, port] = await freePorts(3);
  const child = spawn(process.execPath, ["--import", "./scripts/jsx.ts", "runtime/host/main.ts"], {
    cwd: join(import.meta.dirname, "../.."),
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      STEWARD_HOME: join(home, "data"),
      ...environment,
      GATEWAY_PORT: String(gatewayPort),
      SUPERVISOR_PORT: String(supervisorPort),
      PORT: String(port),
      NODE_OPTIONS: "--inspect=127.0.0.1:0",
    },
  });
  const inspectors = new Set<string>();
  for (const output of [child.stdout, child.stderr]) {
    createInterface(output).on("line", (line) => {
      for (const [address] of line.matchAll(/ws:\/\/[\w.:/-]+/g)) inspectors.add(address);
    });
  }
  const sessions: Inspector[] = [];
  const all = (method: string, params?: object) =>
    Promise.all(sessions.map(({ ask }) => ask(method, params)));
  const url = `http://127.0.0.1:${port}`;
  const say = async (text: string): Promise<void> => {
    await fetch(`${url}/slack/events`, { method: "POST", ...slack.sign(mention(text, { chat: "C1" })) });
    await slack.waitFor((message) => message.text.includes(text), READY_MS);
    await sleep(AFTER_MS);
  };
  try {
    await answersState(url, "ready");
    await say("the first message");
    await say("the second message");
    if (inspectors.size !== 2) throw new Error(`${inspectors.size} processes in place of two`);
    sessions.push(...(await Promise.all([...inspectors].map(openInspector))));
    await all("Profiler.enable");
    await all("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    // This resets the counters.
    await all("Profiler.takePreciseCoverage");
    await say("the message that counts");
    const taken = await all("Profiler.takePreciseCoverage");
    return new Set(taken.flatMap((coverage) => filesIn(coverage as Coverage)));
  } finally {
    const gone = once(child, "exit");
    // A process waits for its inspector before it ends.
    for (const { close } of sessions) close();
    child.kill();
    await gone;
  }
}

function filesIn({ result }: Coverage): string[] {
  return result.flatMap(({ url, functions }) => {
    // A function that begins at 0 is the module itself.
    const ran = functions.some(({ ranges: [whole] }) => whole && whole.count > 0 && whole.startOffset > 0);
    const [, file] = ROOM.exec(url) ?? [];
    return ran && file !== undefined ? [file] : [];
  });
}

/** Opens an inspector: https://chromedevtools.github.io/devtools-protocol/v8/Profiler/ */
async function openInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
    waiting.get(id)?.(result);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`${address} does not answer`)));
  });
  let last = 0;
  const ask: Inspector["ask"] = (method, params = {}) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return { ask, close: () => socket.close() };
}
