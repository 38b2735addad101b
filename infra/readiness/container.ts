import { createRedactor } from "../../runtime/contract/redact.ts";
import { run } from "../build/process.ts";

const LAST_LINES = 15;
/** So often may its process end before nobody waits for it any more. */
const MOST_RESTARTS = 3;

interface Inspected {
  RestartCount: number;
  State: { Status: string; ExitCode: number; OOMKilled: boolean; Error: string };
  Config: { Env: string[] | null };
}

/** Whether the container's process ends whenever it is started. */
export async function keepsEnding(name: string): Promise<boolean> {
  const { code, stdout } = await run("docker", ["container", "inspect", "--format={{.RestartCount}}", name]);
  return code === 0 && Number(stdout) >= MOST_RESTARTS;
}

/** What Docker knows of a container that does not answer: how it stands, and its last words, without secrets. */
export async function containerReport(name: string): Promise<string[]> {
  const asked = await run("docker", ["container", "inspect", name]);
  if (asked.code !== 0) return [`The container ${name} is not there.`];
  const [found] = JSON.parse(asked.stdout) as Inspected[];
  if (found === undefined) return [];
  const { code, stdout, stderr } = await run("docker", ["logs", `--tail=${LAST_LINES}`, name]);
  const redact = createRedactor(environmentOf(found));
  const words = `${stdout}${stderr}`.trimEnd().split("\n");
  const logs = code === 0 ? words.slice(-LAST_LINES).map((line) => `  | ${redact(line)}`) : [];
  return [stateText(name, found), ...logs];
}

function stateText(name: string, { State, RestartCount }: Inspected): string {
  const { Status, ExitCode, OOMKilled, Error } = State;
  const memory = OOMKilled
    ? ", and the kernel killed in it for too little memory (raise steward:memoryMiB)"
    : "";
  const error = Error === "" ? "" : `: ${Error}`;
  return `The container ${name} is ${Status} (last exit code ${ExitCode}, ${RestartCount} restarts${memory})${error}. Its last lines:`;
}

function environmentOf({ Config }: Inspected): Record<string, string> {
  const pairs = (Config.Env ?? []).map((text) => {
    const at = text.indexOf("=");
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}
