import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Rehearsal {
  code: number | null;
  stdout: string;
  stderr: string;
  report: { ok: boolean; url: string; reply: string; cause: string } & Record<
    "resources" | "changes" | "timings",
    Record<string, number>
  >;
}

export function startRehearsal(...words: string[]) {
  const env = { ...process.env };
  // With this variable, the rehearsal uses the real model.
  delete env["ANTHROPIC_API_KEY"];
  const child = spawn(process.execPath, ["rehearsal/start.ts", ...words], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "close").then(([code]): Rehearsal => {
    const last = stdout.trimEnd().split("\n").at(-1) ?? "";
    return { code, stdout, stderr, report: last.startsWith("{") ? JSON.parse(last) : {} };
  });
  return {
    child,
    ended,
    /** Resolves with all output so far. */
    async says(text: string): Promise<string> {
      while (!`${stdout}${stderr}`.includes(text)) {
        if (child.exitCode !== null) throw new Error(`it ended without saying "${text}"\n${stdout}${stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return `${stdout}${stderr}`;
    },
  };
}

export function rehearse(...words: string[]): Promise<Rehearsal> {
  return startRehearsal(...words).ended;
}

export async function run(command: string, args: string[]): Promise<{ stdout: string }> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  await once(child, "close");
  return { stdout };
}
