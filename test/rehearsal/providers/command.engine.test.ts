import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestStack, ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const SECRET = "what-the-command-is-told-in-confidence";

const inputs: command.local.CommandArgs = {};

async function program() {
  const subject = new command.local.Command("subject", inputs);
  return { stdout: subject.stdout, stderr: subject.stderr };
}

describe("the project's own command provider under the real engine", () => {
  let subject: TestStack;
  let dir: string;

  beforeAll(async () => {
    subject = await createTestStack({ program, config: {} });
    dir = join(subject.folder, "work");
    await mkdir(dir);
  }, ENGINE_MS);

  afterAll(() => subject?.close());

  async function written(): Promise<string[]> {
    return (await readFile(join(dir, "log"), "utf8")).trim().split("\n");
  }

  test(
    "runs a shell line in its folder, with its environment and its standard input",
    async () => {
      Object.assign(inputs, {
        create: 'echo "create $WORD" >> log; cat; echo "warned" >&2',
        update: 'echo "update $PULUMI_COMMAND_STDOUT" >> log; echo again',
        delete: "echo delete >> log",
        dir,
        environment: { WORD: "one" },
        stdin: "from the program",
        triggers: ["1"],
      });
      const update = await subject.stack.up();

      expect(update.outputs).toMatchObject({
        stdout: { value: "from the program" },
        stderr: { value: "warned" },
      });
      expect(await stateText(subject)).toMatch(/"stdout": ?"from the program"/);
      expect(await written()).toEqual(["create one"]);
    },
    UPDATE_MS,
  );

  test(
    "runs nothing when nothing has changed",
    async () => {
      await subject.stack.up();
      await subject.stack.refresh();

      expect(await written()).toEqual(["create one"]);
    },
    UPDATE_MS,
  );

  test(
    "runs the update line for another environment, told what the former line wrote",
    async () => {
      Object.assign(inputs, { environment: { WORD: "two" } });
      await subject.stack.up();

      expect(await written()).toEqual(["create one", "update from the program"]);
    },
    UPDATE_MS,
  );

  test(
    "creates anew and deletes the former one when a trigger changes",
    async () => {
      Object.assign(inputs, { triggers: ["2"] });
      await subject.stack.up();

      expect(await written()).toEqual(["create one", "update from the program", "create two", "delete"]);
    },
    UPDATE_MS,
  );

  test(
    "keeps what a command with a secret writes secret",
    async () => {
      Object.assign(inputs, { environment: { WORD: pulumi.secret(SECRET) }, update: 'echo "$WORD"' });
      const update = await subject.stack.up();

      expect(update.outputs["stdout"]?.value).toBe(SECRET);
      expect((await stateText(subject)).includes(SECRET)).toBe(false);
    },
    UPDATE_MS,
  );

  test(
    "fails the update with what the command said, and runs another interpreter",
    async () => {
      const script = join(dir, "script.mjs");
      await writeFile(script, "process.stderr.write('it is not there yet'); process.exit(3);");
      Object.assign(inputs, { interpreter: [process.execPath], create: script, triggers: ["3"] });
      const failure = await subject.stack.up().then(() => "", String);

      expect(failure).toContain("exit status 3");
      expect(failure).toContain("it is not there yet");
    },
    UPDATE_MS,
  );
});
