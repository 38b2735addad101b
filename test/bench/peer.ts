import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../../rehearsal/ports.ts";
import { timed } from "./commands.ts";
import { accepting, figure, residentMb, type Figure } from "../support/measure.ts";
import { measuringBrowser, type Weight, weigh } from "./pages.ts";
import { emptyHome } from "./start.ts";

/** The reference gateway, as it is published. */
const PEER = { name: "openclaw", version: "2026.9.6" };
const LABEL = `${PEER.name}@${PEER.version}`;
const COMMANDS = [
  ["devices", "list"],
  ["pairing", "list", "telegram"],
  ["config", "get", "gateway"],
] as const;
const START_MS = 120_000;
const SETTLE_MS = 3_000;

/** The reference gateway's own figures on this machine, from npm, by the same clock. */
export async function benchPeer(
  runs: number,
  folder: string,
  log: (line: string) => void,
): Promise<Figure[]> {
  const program = await installed(log);
  const ready: number[] = [];
  const resident: number[] = [];
  const home = await emptyHome(join(folder, "peer"));
  const environment = { PATH: process.env["PATH"] ?? "", HOME: home, ANTHROPIC_API_KEY: "bench-model-key" };
  const [port = 0] = await freePorts(1);
  const config = { gateway: { mode: "local", port, bind: "loopback", auth: { mode: "none" } } };
  await mkdir(join(home, ".openclaw"), { recursive: true });
  await writeFile(join(home, ".openclaw", "openclaw.json"), JSON.stringify(config));

  const figures: Figure[] = [];
  for (let run = -1; run < runs; run += 1) {
    const started = performance.now();
    const child = spawn(process.execPath, [program, "gateway", "run"], {
      env: environment,
      stdio: "ignore",
      detached: true,
    });
    const gone = once(child, "exit");
    await accepting(port, START_MS);
    const readyMs = performance.now() - started;
    await sleep(SETTLE_MS);
    if (run >= 0) {
      ready.push(readyMs);
      resident.push(residentMb(child.pid ?? 0));
    }
    if (run === runs - 1) {
      figures.push(...(await commandFigures(program, environment, runs, log)));
      figures.push(...(await pageFigures(port, runs)));
    }
    // A group of its own, so that what it started ends with it.
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await gone;
  }
  return [
    figure(`${LABEL}: spawn to its port accepting`, "ms", ready),
    figure(`${LABEL}: resident memory of its processes`, "MB", resident),
    ...figures,
  ];
}

/** Its Control UI, as its gateway serves it to a browser. */
async function pageFigures(port: number, runs: number): Promise<Figure[]> {
  const browser = await measuringBrowser();
  try {
    const weights: Weight[] = [];
    for (let run = 0; run < runs; run += 1) weights.push(await weigh(browser, `http://127.0.0.1:${port}/`));
    return [
      figure(`${LABEL}: its Control UI with all it loads, gzipped`, "KB", [weights[0]?.kb ?? 0]),
      figure(
        `${LABEL}: its Control UI: first paint`,
        "ms",
        weights.map(({ paintMs }) => paintMs),
      ),
    ];
  } finally {
    await browser.close();
  }
}

/** The commands while its gateway is up: some ask it. */
async function commandFigures(
  program: string,
  environment: Record<string, string>,
  runs: number,
  log: (line: string) => void,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const command of COMMANDS) {
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const time = await timed(process.execPath, [program, ...command], environment).catch(() => undefined);
      if (time !== undefined) times.push(time);
    }
    if (times.length > 0) figures.push(figure(`${LABEL}: ${command.join(" ")}`, "ms", times));
    else log(`${LABEL} ${command.join(" ")} does not end well, left out`);
  }
  return figures;
}

/** Installs the reference into the cache, once. Its entry point. */
async function installed(log: (line: string) => void): Promise<string> {
  const folder = join(homedir(), ".cache", "steward", "peer", `${PEER.name}-${PEER.version}`);
  const program = join(folder, "node_modules", PEER.name, `${PEER.name}.mjs`);
  if (existsSync(program)) return program;
  log(`installing ${PEER.name}@${PEER.version} into ${folder}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), "{}\n");
  const install = spawn("npm", ["install", "--no-audit", "--no-fund", `${PEER.name}@${PEER.version}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(install, "exit")) as [number | null];
  if (code !== 0) throw new Error(`npm install of ${PEER.name} ended with ${code}`);
  return program;
}
