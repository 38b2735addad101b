import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { run } from "../../infra/shell/process.ts";

/** The scripts of package.json that are commands of this project's, with their files. */
const SCRIPTS = Object.entries(
  (JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> }).scripts,
).flatMap(([name, line]) => {
  const file = /^node (\S+\.ts)$/.exec(line)?.[1];
  // These two hand their words on, or have parts of their own.
  return file === undefined || name === "pulumi" || name === "bench" ? [] : [[name, file] as const];
});

const UNKNOWN = "unknown option '--no-such-word'";

const type = (file: string, ...words: string[]) => run(process.execPath, [file, ...words]);

test("the commands are all there", () => {
  expect(SCRIPTS.map(([name]) => name).sort()).toEqual([
    "backup",
    "client",
    "compose",
    "drift",
    "engine",
    "image",
    "migrate",
    "orphans",
    "package",
    "policies",
    "preview",
    "rollout",
    "sbom",
    "slack-manifest",
    "start",
  ]);
});

describe.each(SCRIPTS)("npm run %s", (name, file) => {
  const script = name === "start" ? "npm start --" : `npm run ${name} --`;

  test("prints its help once, and that is no failure", async () => {
    const { code, stdout, stderr } = await type(file, "--help");
    expect(stdout.split(`Usage: ${script} `)).toHaveLength(2);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("refuses a wrong word with one line, and where to read on", async () => {
    const { code, stdout, stderr } = await type(file, "--no-such-word");
    const why = name === "migrate" ? "required option '--worker-name <name>' not specified" : UNKNOWN;
    expect(stderr).toBe(`error: ${why}\nUsage: ${script} --help\n`);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

test("npm start suggests the word that was meant", async () => {
  const { stderr } = await type("rehearsal/start.ts", "--onc");
  expect(stderr).toContain("error: unknown option '--onc' (Did you mean --once?)\n");
});

test("npm start names the targets that there are, also for programs", async () => {
  const { code, stdout, stderr } = await type("rehearsal/start.ts", "servreless", "--json");
  expect(code).toBe(2);
  expect(stderr).toContain("Allowed choices are serverless, host");
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: "usage" });
});
