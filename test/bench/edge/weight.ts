import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import type { Bundle } from "../../../infra/bundle/bundle.ts";
import { figure, type Figure } from "../../support/measure.ts";
import type { RunOptions } from "../run.ts";

const KB = 1_000;

/**
 * Evaluates the Worker's module and prints the milliseconds of CPU that it took. In Node, whose V8 is workerd's too:
 * what workerd itself takes is no part of what the platform limits
 * (https://developers.cloudflare.com/workers/platform/limits/#worker-startup-time).
 */
const EVALUATE = `
  const { registerHooks } = process.getBuiltinModule("node:module");
  const url = "data:text/javascript,export class DurableObject {}";
  registerHooks({
    resolve: (name, context, next) =>
      name === "cloudflare:workers" ? { url, shortCircuit: true } : next(name, context),
  });
  await import(url);
  const before = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
`;

/** Measures the Worker's bundle and its start. */
export async function benchWeight(bundle: Bundle, options: RunOptions): Promise<Figure[]> {
  const [main] = bundle.worker.files;
  if (main === undefined) throw new Error("the Worker's bundle is empty");
  const starts: number[] = [];
  for (let run = 0; run < options.runs; run += 1) {
    const parameters = ["--input-type=module", "--eval", EVALUATE, main.path];
    const { stdout } = await promisify(execFile)(process.execPath, parameters);
    starts.push(Number(stdout));
  }
  return [
    figure("the Worker's bundle, gzipped", "KB", [gzipSync(await readFile(main.path)).length / KB], 220),
    figure("the Worker's start: CPU", "ms", starts, 20),
  ];
}
