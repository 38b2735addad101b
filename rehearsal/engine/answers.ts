import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Stack, UpdateSummary } from "@pulumi/pulumi/automation/index.js";
import { runProcess } from "../../infra/shell/process.ts";

/**
 * Makes `stack` read its outputs and last summary from the state's files, which is a second faster than the CLI. Uses
 * the CLI if an output is encrypted.
 *
 * @param state folder of the backend
 */
export function answerFromState(stack: Stack, state: string): void {
  const { workspace } = stack;
  const folderOf = async (kind: "stacks" | "history"): Promise<string> => {
    const { name: project } = await workspace.projectSettings();
    return join(state, ".pulumi", kind, project);
  };
  stack.info = async () => storedSummary(join(await folderOf("history"), stack.name));
  workspace.stackOutputs = async (name) => {
    const file = join(await folderOf("stacks"), `${name}.json`);
    const values = (await storedOutputs(file)) ?? (await fetchOutputs(workspace, name));
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value, secret: false }]));
  };
}

/** Returns the summary of the newest update. File names begin with the time, so the last name is the newest. */
async function storedSummary(folder: string): Promise<UpdateSummary | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  const newest = names
    .filter((name) => name.endsWith(".history.json"))
    .toSorted()
    .at(-1);
  if (newest === undefined) return undefined;
  const stored = JSON.parse(await readFile(join(folder, newest), "utf8")) as StoredSummary;
  const time = (seconds: number): Date => new Date(seconds * 1_000);
  return { ...stored, startTime: time(stored.startTime), endTime: time(stored.endTime) };
}

/** Stored summary, with times in seconds since the epoch (pulumi pkg/backend/updates.go). */
type StoredSummary = Omit<UpdateSummary, "startTime" | "endTime"> & Record<"startTime" | "endTime", number>;

/** Mark of an encrypted value in a state file (pulumi sdk/go/common/resource/sig). */
const SECRET = "4dabf18193072939515e22adb298388d";

/** Returns the stack's outputs; `undefined` if the stack is not deployed or an output is encrypted. */
async function storedOutputs(file: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(file, "utf8").catch(() => "{}");
  const { checkpoint } = JSON.parse(text) as {
    checkpoint?: { latest?: { resources?: { type: string; outputs?: Record<string, unknown> }[] } };
  };
  const root = checkpoint?.latest?.resources?.find(({ type }) => type === "pulumi:pulumi:Stack");
  if (root === undefined || JSON.stringify(root.outputs ?? {}).includes(SECRET)) return undefined;
  return root.outputs ?? {};
}

async function fetchOutputs(
  { pulumiCommand, workDir: cwd, envVars }: Stack["workspace"],
  name: string,
): Promise<Record<string, unknown>> {
  const words = ["stack", "output", "--json", "--show-secrets", "--stack", name];
  const env = { ...process.env, ...envVars };
  const { code, stdout, stderr } = await runProcess(pulumiCommand?.command ?? "pulumi", words, { cwd, env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}
