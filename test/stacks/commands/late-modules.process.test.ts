import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { runProcess } from "../../../infra/shell/process.ts";

const COMMANDS = [
  "backup",
  "compose",
  "drift",
  "migrate",
  "orphans",
  "policies",
  "preview",
  "rollout",
  "upgrade",
];

/** Prints the address of each module when it is loaded. */
const PRINTS_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => { process.stderr.write(url + "\\n"); return next(url, context); } });
`)}`;

test.each(COMMANDS)(
  "%s starts without the TypeScript compiler and npm's dependency tree",
  async (command) => {
    const words = ["--import", PRINTS_LOADED, `stacks/commands/${command}.ts`, "--help"];
    const { code, stderr } = await runProcess(process.execPath, words);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("/@pulumi/pulumi/");
    expect(stderr).not.toMatch(/\/(typescript|@npmcli\/arborist|normalize-package-data)\//);
  },
);

test("what serialises a function still finds them", async () => {
  const commands = pathToFileURL(resolve("stacks/commands/late-modules.ts")).href;
  const program = `
    await import(${JSON.stringify(commands)});
    const { runtime } = await import("@pulumi/pulumi");
    const { text } = await runtime.serializeFunction(() => ({ answer: 41 + 1 }));
    console.log(text);
    const paths = await runtime.computeCodePaths();
    console.log("paths", [...paths.keys()].some((key) => key.includes("node_modules/")));`;
  const { code, stdout, stderr } = await runProcess(process.execPath, [
    "--input-type=module",
    "--eval",
    program,
  ]);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("answer: 41 + 1");
  expect(stdout).toContain("paths true");
});
