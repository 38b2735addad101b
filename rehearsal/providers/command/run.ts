import { spawn } from "node:child_process";
import { isProperties, type Properties } from "../values.ts";

/** Output of a command, without the final line break. */
export interface CommandResult {
  stdout: string;
  stderr: string;
}

const DEFAULT_INTERPRETER = ["/bin/sh", "-c"];

/**
 * Runs the shell command of a `command:local:Command`, as the official provider does.
 *
 * @param inputs inputs with secrets unwrapped
 * @param former output of the previous run, for PULUMI_COMMAND_STDOUT and PULUMI_COMMAND_STDERR
 * @throws Error with the exit code and the command's stderr
 */
export async function runShellCommand(
  line: string,
  inputs: Properties,
  former: Partial<CommandResult> = {},
): Promise<CommandResult> {
  const [program = "/bin/sh", ...parameters] = interpreterOf(inputs);
  const child = spawn(program, [...parameters, line], {
    ...(typeof inputs["dir"] === "string" && { cwd: inputs["dir"] }),
    env: {
      ...process.env,
      ...(former.stdout !== undefined && { PULUMI_COMMAND_STDOUT: former.stdout }),
      ...(former.stderr !== undefined && { PULUMI_COMMAND_STDERR: former.stderr }),
      ...environmentOf(inputs),
    },
  });
  // Ignore the broken pipe if the command exits without reading its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(typeof inputs["stdin"] === "string" ? inputs["stdin"] : "");
  const [stdout, stderr, code] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    new Promise<number | string>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (exitCode, signal) => resolve(exitCode ?? signal ?? "unknown"));
    }),
  ]);
  if (code === 0) return { stdout, stderr };
  throw new Error([`exit status ${code}: running "${line}":`, stderr, stdout].filter(Boolean).join("\n"));
}

function interpreterOf({ interpreter }: Properties): string[] {
  if (!Array.isArray(interpreter) || interpreter.length === 0) return DEFAULT_INTERPRETER;
  return interpreter.map(String);
}

function environmentOf({ environment }: Properties): Record<string, string> {
  if (environment === undefined || !isProperties(environment)) return {};
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]));
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}
