import { createRedactor } from "../../runtime/shared/redact.ts";
import { runProcess } from "../shell/process.ts";

const LAST_LINES = 15;
/** Restarts after which the probe gives up. */
const MAX_RESTARTS = 3;

interface ReportedContainer {
  Id: string;
  Created: string;
  RestartCount: number;
  State: { Status: string; StartedAt: string; ExitCode: number; OOMKilled: boolean; Error: string };
  Config: { Env: string[] | null };
}

/** Returns true if the container's process exits after every start. */
export async function keepsEnding(name: string): Promise<boolean> {
  const { code, stdout } = await runProcess("docker", [
    "container",
    "inspect",
    "--format={{.RestartCount}}",
    name,
  ]);
  return code === 0 && Number(stdout) >= MAX_RESTARTS;
}

/**
 * Returns Docker's report of a container that does not respond: its state and last log lines, without secrets.
 *
 * @param env selects the engine. Default: this process's environment
 */
export async function containerReport(name: string, env = process.env): Promise<string[]> {
  const asked = await runProcess("docker", ["container", "inspect", name], { env });
  if (asked.code !== 0) return [`The container ${name} does not exist.`];
  const [found] = JSON.parse(asked.stdout) as ReportedContainer[];
  if (found === undefined) return [];
  const { code, stdout, stderr } = await runProcess("docker", ["logs", `--tail=${LAST_LINES}`, name], {
    env,
  });
  const redact = createRedactor(environmentOf(found));
  const state = stateText(name, found, await lastExitCode(found, env));
  if (code !== 0) return [`${state} Its logs cannot be read.`];
  const words = `${stdout}${stderr}`.trimEnd();
  if (words === "") return [`${state} It printed nothing.`];
  const lines = words.split("\n").slice(-LAST_LINES);
  return [`${state} Its last lines:`, ...lines.map((line) => `  | ${redact(line)}`)];
}

/**
 * Returns the container's last exit code; "" if it never exited. For a running container, reads the code from the
 * engine's events.
 */
async function lastExitCode(
  { Id, Created, State }: ReportedContainer,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  if (State.Status !== "running") return String(State.ExitCode);
  const words = [
    "events",
    `--filter=container=${Id}`,
    "--filter=event=die",
    // Use the engine's times, because this machine's clock may differ.
    `--since=${Created}`,
    `--until=${State.StartedAt}`,
    "--format={{.Actor.Attributes.exitCode}}",
  ];
  const { stdout } = await runProcess("docker", words, { env });
  return stdout.trimEnd().split("\n").at(-1) ?? "";
}

function stateText(name: string, { State, RestartCount }: ReportedContainer, exitCode: string): string {
  const { Status, OOMKilled, Error } = State;
  const ended = exitCode === "" ? "" : `last exit code ${exitCode}, `;
  const memory = OOMKilled ? ", and ran out of memory (OOM-killed; raise steward:memoryMiB)" : "";
  const error = Error === "" ? "" : `: ${Error}`;
  return `The container ${name} is ${Status} (${ended}${RestartCount} restarts${memory})${error}.`;
}

function environmentOf({ Config }: ReportedContainer): Record<string, string> {
  const pairs = (Config.Env ?? []).map((text) => {
    const at = text.indexOf("=");
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}
