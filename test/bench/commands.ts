import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { figure, type Figure } from "../support/measure.ts";
import { baseEnvironment, startService } from "../support/service.ts";
import type { RunOptions } from "./run.ts";
import { emptyHome } from "./start.ts";

/** The commands that the reference was measured with. */
const COMMANDS = [
  ["devices", "list"],
  ["pairing", "list", "telegram"],
  ["config", "get", "models.primary"],
] as const;
const AT_MOST_MS = 90;
/** The supervisor, its checks and two requests come to the command. */
const AT_MOST_RATIO = 1.5;
const ADMIN_TOKEN = "bench-admin-token";

/** The command line, from its spawn to its end, on the data directory of a gateway that has run. */
export async function benchCommands(options: RunOptions): Promise<Figure[]> {
  const { bundleDir, surroundings, runs, folder } = options;
  const { environment } = surroundings;
  const home = await emptyHome(join(folder, "commands"));
  await (await startService(bundleDir, "supervisor/main.js", home, environment)).stop();
  const figures: Figure[] = [];
  for (const command of COMMANDS) {
    const times: number[] = [];
    for (let run = -1; run < runs; run += 1) {
      const time = await timed(process.execPath, [join(bundleDir, "gateway/cli/main.js"), ...command], {
        ...baseEnvironment(home),
        ...environment,
      });
      if (run >= 0) times.push(time);
    }
    figures.push(figure(`steward ${command.join(" ")}`, "ms", times, AT_MOST_MS));
  }
  const ratios = await consoleRatios(options, figures[0]?.median ?? 0);
  return [
    ...figures,
    figure("an operation on /debug/cli, in times of the command", "ratio", ratios, AT_MOST_RATIO),
  ];
}

/** Times of the first command on `/debug/cli`, where the supervisor runs it, in times of the command itself. */
async function consoleRatios(
  { bundleDir, surroundings, runs, folder }: RunOptions,
  commandMs: number,
): Promise<number[]> {
  const environment = { ...surroundings.environment, ADMIN_TOKEN };
  const home = await emptyHome(join(folder, "console"));
  const service = await startService(bundleDir, "host/main.js", home, environment);
  try {
    const url = `${service.url}${ROUTES.cli.path}?cmd=${encodeURIComponent(COMMANDS[0].join(" "))}`;
    const ratios: number[] = [];
    for (let run = -1; run < runs; run += 1) {
      const started = performance.now();
      const answer = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
      const { exitCode } = (await answer.json()) as { exitCode: number };
      if (exitCode !== 0) throw new Error(`${url} ended with ${exitCode}`);
      if (run >= 0) ratios.push((performance.now() - started) / commandMs);
    }
    return ratios;
  } finally {
    await service.stop();
  }
}

/** Milliseconds that a command takes; it has to end with exit code 0. */
export async function timed(
  file: string,
  args: readonly string[],
  environment: Record<string, string>,
): Promise<number> {
  const started = performance.now();
  const child = spawn(file, [...args], { env: environment, stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${[file, ...args].join(" ")} ended with ${code}`);
  return performance.now() - started;
}
