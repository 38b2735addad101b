import { execFile, spawn } from "node:child_process";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";

const LINES = 50_000;

/** A command that prints more than a pipe holds, and ends at once. */
const COMMAND = `
  import { runCommand } from "./infra/shell/command.ts";
  await runCommand("x", async (argv, { say, log }) => {
    for (let line = 1; line <= ${LINES}; line += 1) say("line " + line + "\\n");
    log("the last line");
    return 2;
  });
`;

test("a reader that takes its time gets all that a command prints", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", COMMAND], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((done) => void child.on("close", done));
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  let said = "";
  for await (const chunk of child.stdout) {
    said += String(chunk);
    await sleep(5);
  }
  expect(await ended).toBe(2);
  expect(said.trimEnd().split("\n")).toHaveLength(LINES);
  expect(errors).toContain("the last line");
});

test.each([
  [
    "a reader that leaves early",
    'node --input-type=module --eval "$COMMAND" | head -n 1; echo ${PIPESTATUS[0]}',
    "line 1\n2\n",
  ],
  ["a full disk", 'node --input-type=module --eval "$COMMAND" >/dev/full; echo $?', "1\n"],
])("%s leaves no stack trace", async (_, line, expected) => {
  const env = { ...process.env, COMMAND, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  const [out, errors] = await new Promise<[string, string]>((done) => {
    execFile("bash", ["-c", line], { env }, (_error, stdout, stderr) => done([stdout, stderr]));
  });
  expect(out).toBe(expected);
  expect(errors.trim()).toMatch(/^(?:the last line)?$/);
});

test("what an account or an engine answers commands no terminal", async () => {
  const answered = String.raw`
    import { runCommand } from "./infra/shell/command.ts";
    const evil = "\u001b[2J\u202e\u009b1m\r";
    await runCommand("x", async (argv, { say, log, report }) => {
      say("said " + evil + "\n");
      log("logged " + evil);
      report({ answered: evil });
      throw new Error("refused " + evil);
    });
  `;
  const run = (...words: string[]) =>
    new Promise<string>((done) => {
      const argv = ["--input-type=module", "--eval", answered, "--", ...words];
      execFile(process.execPath, argv, (_error, stdout, stderr) => done(stdout + stderr));
    });
  const shown = String.raw`\u001b[2J\u202e\u009b1m\u000d`;
  const said = await run();
  expect(said).toContain(`said ${shown}\n`);
  expect(said).toContain(`logged ${shown}\n`);
  expect(said).toContain(`refused ${shown}`);
  expect(await run("--json")).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
});
