import { randomUUID } from "node:crypto";
import packageFile from "@pulumi/command/package.json" with { type: "json" };
import type { Provider } from "../serve.ts";
import { changedKeys, makeSecret, revealAll, type Properties } from "../values.ts";
import { runShellCommand, type CommandResult } from "./run.ts";

const TYPE = "command:local:Command";
const INPUTS = new Set([
  "create",
  "update",
  "delete",
  "dir",
  "environment",
  "interpreter",
  "stdin",
  "triggers",
]);
/** Inputs whose change replaces the resource, so that `create` runs again. */
const REPLACE_ON = new Set(["triggers"]);

export function createCommandProvider(): Provider {
  return {
    name: "command",
    version: packageFile.version,
    configure: () => undefined,
    async check(type, inputs) {
      requireCommand(type);
      const failures = Object.keys(inputs)
        .filter((key) => !INPUTS.has(key) && !key.startsWith("__"))
        .map((property) => ({ property, reason: `${property} is not known to this rehearsal's ${TYPE}` }));
      return { inputs, failures };
    },
    diff(_type, { inputs }, after) {
      const changed = changedKeys(inputs, after);
      return { changed, replaces: changed.filter((key) => REPLACE_ON.has(key)) };
    },
    async create(type, inputs) {
      requireCommand(type);
      return { id: randomUUID(), outputs: await outputsOf(inputs, ["create"], {}) };
    },
    // A command has no external state to read.
    read: async (_type, state) => state,
    update: (_type, _id, inputs, outputs) => outputsOf(inputs, ["update", "create"], previousResult(outputs)),
    async delete(_type, _id, inputs, outputs) {
      await outputsOf(inputs, ["delete"], previousResult(outputs));
    },
  };
}

function requireCommand(type: string): void {
  if (type !== TYPE) throw new Error(`This rehearsal's command provider does not know ${type}`);
}

/**
 * Runs the first non-empty command among the inputs named in `lines`. If any input is secret, so are `stdout` and
 * `stderr`.
 */
async function outputsOf(
  inputs: Properties,
  lines: ("create" | "update" | "delete")[],
  before: Partial<CommandResult>,
): Promise<Properties> {
  const plain = revealAll(inputs);
  const line = lines.map((name) => plain[name]).find((value) => typeof value === "string" && value !== "");
  const result =
    typeof line === "string"
      ? await runShellCommand(line, plain, before)
      : { stdout: "", stderr: "", ...before };
  const secret = JSON.stringify(inputs) !== JSON.stringify(plain);
  const wrap = (value: string) => (secret ? makeSecret(value) : value);
  return { ...inputs, stdout: wrap(result.stdout), stderr: wrap(result.stderr) };
}

function previousResult(outputs: Properties): Partial<CommandResult> {
  const { stdout, stderr } = revealAll(outputs);
  return {
    ...(typeof stdout === "string" && { stdout }),
    ...(typeof stderr === "string" && { stderr }),
  };
}
