import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { runProcess } from "../../infra/shell/process.ts";

/** The scripts of package.json that are commands of this project's, with their files. */
const SCRIPTS = Object.entries(
  (JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> }).scripts,
).flatMap(([name, line]) => {
  const file = /^node (\S+\.ts)$/.exec(line)?.[1];
  // These two hand their words on, or have parts of their own.
  return file === undefined || name === "pulumi" || name === "bench" ? [] : [[name, file] as const];
});

const UNKNOWN = "unknown option '--no-such-word'";

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const type = (file: string, ...words: string[]) => runProcess(process.execPath, [file, ...words]);

/**
 * Types every line of `[file, ...words]` in one process, which loads what the commands share once: as the process's
 * words, with the module of the command evaluated each time, until it ends the process.
 */
const TYPE_ALL = `
  const { pathToFileURL } = await import("node:url");
  const { exit, stdout, stderr, argv } = process;
  const write = { stdout: stdout.write, stderr: stderr.write };
  const ends = [];
  for (const [at, [file, ...words]] of JSON.parse(argv[1]).entries()) {
    const end = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"])
      process[name].write = (text, taken) => ((end[name] += text), taken?.(), true);
    process.argv = [argv[0], file, ...words];
    process.exitCode = undefined;
    const ended = new Promise((resolve) => {
      process.exit = (code) => (resolve(code ?? process.exitCode ?? 0), new Promise(() => {}));
    });
    const module = import(pathToFileURL(file).href + "?" + at);
    end.code = await Promise.race([ended, module.then(() => process.exitCode ?? 0)]);
    ends.push(end);
  }
  Object.assign(stdout, { write: write.stdout });
  stdout.write(JSON.stringify(ends), () => exit(0));`;

async function typeAll(lines: string[][]): Promise<Ended[]> {
  const words = ["--input-type=module", "--eval", TYPE_ALL, JSON.stringify(lines)];
  const { code, stdout, stderr } = await runProcess(process.execPath, words);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Ended[];
}

test("the commands are all there", () => {
  expect(SCRIPTS.map(([name]) => name).sort()).toEqual([
    "archive",
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
    "release",
    "rollout",
    "sbom",
    "schema",
    "sdk",
    "slack-manifest",
    "start",
    "upgrade",
  ]);
});

describe("each command", () => {
  const ends = new Map<string, Ended>();
  beforeAll(async () => {
    const lines = SCRIPTS.flatMap(([, file]) => [
      [file, "--help"],
      [file, "--no-such-word"],
    ]);
    for (const [at, ended] of (await typeAll(lines)).entries()) ends.set(String(lines[at]), ended);
  });

  describe.each(SCRIPTS)("npm run %s", (name, file) => {
    const script = name === "start" ? "npm start --" : `npm run ${name} --`;

    test("prints its help once, and that is no failure", () => {
      const { code, stdout, stderr } = ends.get(`${file},--help`) as Ended;
      expect(stdout.split(`Usage: ${script} `)).toHaveLength(2);
      expect(stderr).toBe("");
      expect(code).toBe(0);
    });

    test("refuses a wrong word with one line, and where to read on", () => {
      const { code, stdout, stderr } = ends.get(`${file},--no-such-word`) as Ended;
      const why = name === "migrate" ? "required option '--worker-name <name>' not specified" : UNKNOWN;
      expect(stderr).toBe(`error: ${why}\nUsage: ${script} --help\n`);
      expect(stdout).toBe("");
      expect(code).toBe(2);
    });
  });

  test("ends in a process of its own as it does among the others", async () => {
    for (const words of [["--help"], ["--no-such-word"]]) {
      const file = "stacks/commands/drift.ts";
      const { code, stdout, stderr } = await type(file, ...words);
      expect({ code, stdout, stderr }).toEqual(ends.get(String([file, ...words])));
    }
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
