import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { figure, median, type Figure } from "../support/measure.ts";
import { packPackage, QUIET } from "./package.ts";
import { rehearse, startRehearsal } from "../support/rehearse.ts";

const run = promisify(execFile);

/**
 * Measures `pulumi preview` typed by hand against a program without resources, the preview of a new stack in a project that
 * has installed the package against that in this checkout, and `npm start` that finds nothing to change against the preview and the update.
 */
export async function benchByHand(
  runs: number,
  folder: string,
  log: (line: string) => void,
): Promise<Figure[]> {
  const dir = join(folder, "rehearsal");
  const empty = await emptyProject(join(folder, "empty"));
  const words = ["--sandbox", "process", "--dir", dir];
  const running = startRehearsal(...words);
  const times: Record<"preview" | "checkout" | "packaged" | "up" | "bare" | "warm", number[]> = {
    preview: [],
    checkout: [],
    packaged: [],
    up: [],
    bare: [],
    warm: [],
  };
  try {
    await running.says("Ctrl-C ends the rehearsal");
    const typed = (line: string, cwd = resolve(".")) =>
      timed(() => run("sh", ["-c", `. ${dir}/env && ${line}`], { cwd, maxBuffer: 1 << 24 }));
    const bare = `unset PULUMI_OPTION_CONFIG_FILE && pulumi preview -s empty --non-interactive`;
    await typed("unset PULUMI_OPTION_CONFIG_FILE && pulumi stack init empty", empty);
    const packaged = await packagedProject(folder);
    // The same stack of the same backend in both, under a Worker's name of its own.
    const settings = join(packaged, "Pulumi.new.yaml");
    const onNew = `export PULUMI_OPTION_CONFIG_FILE=${settings} && pulumi`;
    await typed(
      `pulumi stack init new && cp $PULUMI_OPTION_CONFIG_FILE ${settings} && ` +
        `${onNew} config set -s new steward:workerName packaged`,
      packaged,
    );
    // A preview that ends early would be a fast one.
    const preview = `${onNew} preview -s new --non-interactive | grep -E '\\+ [0-9]{2} to create$'`;
    log("measuring pulumi typed by hand");
    // The first of each fills what all keep.
    for (let at = -1; at < runs; at += 1) {
      const unchanged = await typed("pulumi preview -s rehearsal --non-interactive");
      const inCheckout = await typed(preview);
      const installed = await typed(preview, packaged);
      const up = await typed("pulumi up -s rehearsal --yes --non-interactive");
      const without = await typed(bare, empty);
      if (at < 0) continue;
      times.preview.push(unchanged);
      times.checkout.push(inCheckout);
      times.packaged.push(installed);
      times.up.push(up);
      times.bare.push(without);
    }
    await typed("pulumi stack rm new --yes --preserve-config", packaged);
  } finally {
    running.child.kill("SIGINT");
    await running.ended;
  }
  log("measuring npm start that finds nothing to change");
  for (let at = 0; at < runs; at += 1)
    times.warm.push(await timed(() => rehearse("--once", "--json", ...words)));
  await rm(dir, { recursive: true });

  const both = median(times.preview) + median(times.up);
  return [
    figure("pulumi preview of the serverless stack, typed by hand", "ms", times.preview),
    figure(
      `that against a program without resources, typed by hand (${Math.round(median(times.bare))} ms)`,
      "ratio",
      times.preview.map((ms) => ms / median(times.bare)),
    ),
    figure(
      `pulumi preview of a new stack from the installed package, against that in this checkout (${Math.round(median(times.checkout))} ms)`,
      "ratio",
      times.packaged.map((ms) => ms / median(times.checkout)),
      1.1,
    ),
    figure("npm start -- --once that finds nothing to change", "ms", times.warm),
    figure(
      `that against pulumi preview and up typed by hand (${Math.round(both)} ms)`,
      "ratio",
      times.warm.map((ms) => ms / both),
      1.5,
    ),
  ];
}

/** The wall time of `npm test`, once: it takes too long for more. */
export async function benchTests(log: (line: string) => void): Promise<Figure[]> {
  log("measuring npm test");
  const ms = await timed(() => run("npm", ["test"], { maxBuffer: 1 << 26 }));
  return [figure("npm test, on this machine's processors", "s", [ms / 1000], 120)];
}

/** A project of the same name that has installed the package, with the template's program. */
async function packagedProject(folder: string): Promise<string> {
  const project = join(folder, "packaged");
  await mkdir(project);
  await writeFile(join(project, "package.json"), '{"name":"packaged","type":"module","main":"index.js"}\n');
  await run("npm", ["install", ...QUIET, await packPackage(folder)], { cwd: project });
  const template = join(project, "node_modules/steward-gateway/templates/serverless");
  await cp(join(template, "index.js"), join(project, "index.js"));
  const settings = await readFile(join(template, "Pulumi.yaml"), "utf8");
  const named = settings.replace("${PROJECT}", "steward").replace("${DESCRIPTION}", "the template");
  await writeFile(join(project, "Pulumi.yaml"), named);
  return project;
}

async function emptyProject(folder: string): Promise<string> {
  await mkdir(folder);
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "Pulumi.yaml"), "name: empty\nruntime: nodejs\n");
  await writeFile(join(folder, "package.json"), '{"name":"empty","type":"module","main":"index.js"}\n');
  await writeFile(join(folder, "index.js"), "export default () => ({});\n");
  return folder;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
