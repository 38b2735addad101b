import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { run } from "../../infra/shell/process.ts";

/**
 * Makes a stack read its outputs from its stored state, and ask the CLI only if one of them is encrypted: the Automation
 * API asks it twice after each update, a third of a second each time. They do not tell which of them are secrets.
 *
 * @param state the folder that is its backend
 */
export function answerOutputs({ workspace }: Stack, state: string): void {
  workspace.stackOutputs = async (name) => {
    const { name: project } = await workspace.projectSettings();
    const file = join(state, ".pulumi/stacks", project, `${name}.json`);
    const values = (await storedOutputs(file)) ?? (await askedOutputs(workspace, name));
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value, secret: false }]));
  };
}

/** Marks an encrypted value in a state (pulumi sdk/go/common/resource/sig). */
const SECRET = "4dabf18193072939515e22adb298388d";

/** Returns the outputs in a stored state; `undefined` if it holds none, or encrypted ones. */
async function storedOutputs(file: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(file, "utf8").catch(() => "{}");
  const { checkpoint } = JSON.parse(text) as {
    checkpoint?: { latest?: { resources?: { type: string; outputs?: Record<string, unknown> }[] } };
  };
  const root = checkpoint?.latest?.resources?.find(({ type }) => type === "pulumi:pulumi:Stack");
  if (root === undefined || JSON.stringify(root.outputs ?? {}).includes(SECRET)) return undefined;
  return root.outputs ?? {};
}

async function askedOutputs(
  { pulumiCommand, workDir: cwd, envVars }: Stack["workspace"],
  name: string,
): Promise<Record<string, unknown>> {
  const words = ["stack", "output", "--json", "--show-secrets", "--stack", name];
  const env = { ...process.env, ...envVars };
  const { code, stdout, stderr } = await run(pulumiCommand?.command ?? "pulumi", words, { cwd, env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}
