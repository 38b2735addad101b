import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import type { Bundle } from "../../../infra/bundle/bundle.ts";
import { ROUTES, type Route } from "../../../runtime/contract/routes.ts";
import { figure, type Figure } from "../../support/measure.ts";
import { startService } from "../../support/service.ts";
import type { RunOptions } from "../run.ts";
import { emptyHome } from "../start.ts";

const KB = 1_000;
const ADMIN_TOKEN = "bench-admin-token";

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

/** What the edge weighs where it is loaded: the Worker's bundle and its start, the largest page of the administration. */
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
    figure("the Worker's bundle, gzipped", "KB", [gzipSync(await readFile(main.path)).length / KB], 150),
    figure("the Worker's start: CPU", "ms", starts, 20),
    figure(
      "the administration's largest page with all it loads, gzipped",
      "KB",
      [await largestPage(options)],
      40,
    ),
  ];
}

/** Pages have no scripts and no files beside them: what the page weighs is all there is. */
async function largestPage({ bundleDir, surroundings, folder }: RunOptions): Promise<number> {
  const home = await emptyHome(join(folder, "pages"));
  const environment = { ...surroundings.environment, ADMIN_TOKEN };
  const service = await startService(bundleDir, "host/main.js", home, environment);
  try {
    const pages = Object.values<Route>(ROUTES).filter(
      ({ method, path }) =>
        method === "GET" &&
        path.startsWith("/_admin/") &&
        !path.startsWith("/_admin/api/") &&
        path !== ROUTES.backupsRestorePage.path,
    );
    const sizes = pages.map(async ({ path }) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, accept: "text/html" };
      const answer = await fetch(`${service.url}${path}`, { headers });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
      if (/<(script|link)\b[^>]*\b(src|href)=/.test(text)) throw new Error(`${path} loads something`);
      return gzipSync(text).length / KB;
    });
    return Math.max(...(await Promise.all(sizes)));
  } finally {
    await service.stop();
  }
}
