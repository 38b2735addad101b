import { spawn } from "node:child_process";
import { once } from "node:events";

/** How a rehearsal ended. */
export interface Rehearsal {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The last line of standard output. */
  report: { ok: boolean; url: string; reply: string; cause: string } & Record<
    "resources" | "changes" | "timings",
    Record<string, number>
  >;
}

/** Runs `npm start` with these words and waits for its end. */
export async function rehearse(...words: string[]): Promise<Rehearsal> {
  const env = { ...process.env };
  // With a key the real model would answer.
  delete env["ANTHROPIC_API_KEY"];
  const child = spawn(process.execPath, ["stacks/rehearse.ts", ...words], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const last = stdout.trimEnd().split("\n").at(-1) ?? "";
  return { code, stdout, stderr, report: last.startsWith("{") ? JSON.parse(last) : {} };
}

/** Runs a command to its end. */
export async function run(command: string, args: string[]): Promise<{ stdout: string }> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  await once(child, "close");
  return { stdout };
}
