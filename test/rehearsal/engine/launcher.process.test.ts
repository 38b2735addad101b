import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../runtime/support/processes.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const LAUNCHER = join(ROOT, "rehearsal/engine/launchers/pulumi-resource-pulumi-nodejs");

/** What a script says that is asked at the end of the launcher's process, which ends for want of an engine's address. */
async function atTheEnd(script: string): Promise<unknown> {
  const file = join(await temporaryDirectory(), "at-the-end.cjs");
  await writeFile(file, `process.on("exit", () => console.log("said " + JSON.stringify((${script})())));`);
  const env = {
    PATH: process.env["PATH"],
    STEWARD_NODE: process.execPath,
    STEWARD_NODE_MODULES: join(ROOT, "node_modules"),
    NODE_OPTIONS: `--require ${file}`,
  };
  const output = await new Promise<string>((done) =>
    execFile(LAUNCHER, { env }, (_, stdout) => done(stdout)),
  );
  return JSON.parse(/^said (.*)$/m.exec(output)?.[1] ?? "null");
}

test("what serves dynamic resources starts without the packages that only a program needs", async () => {
  const loaded = await atTheEnd('() => Object.keys(require("node:module")._cache)');

  expect(loaded).toContainEqual(expect.stringContaining("@pulumi/pulumi/cmd/dynamic-provider/index.js"));
  expect(loaded).not.toContainEqual(expect.stringMatching(/node_modules\/(typescript|@npmcli\/arborist)\//));
  expect(loaded).not.toContainEqual(expect.stringContaining("@pulumi/pulumi/automation/"));
});

test("one of these packages is there when it is asked for all the same", async () => {
  const { version } = createRequire(import.meta.url)("typescript") as { version: string };
  const ask = `require("node:module").createRequire(${JSON.stringify(import.meta.filename)})("typescript").version`;

  expect(await atTheEnd(`() => ${ask}`)).toBe(version);
});
