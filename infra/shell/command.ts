import { Command, CommanderError } from "commander";
import { type Explanation, explain, explanationText } from "./explain.ts";
import { shellWord } from "../../runtime/contract/operator-commands.ts";
import { commandsFor } from "./package.ts";
import { print, printError, writeText } from "../../runtime/shared/terminal.ts";

let parser: Command | undefined;

/** Exit code for invalid arguments. */
const USAGE = 2;
const CLEAR_LINE = "\r\u001B[2K";

/**
 * Output of a command. With `--json`, standard output contains only the JSON result; messages go to standard error.
 */
export interface CommandOutput {
  say: (text: string) => void;
  /** Replaces the terminal's current line; an empty string clears the line. Absent without a terminal. */
  status?: (line: string) => void;
  log: (line: string) => void;
  /** Writes the result as JSON; does nothing without `--json`. */
  report: (result: object) => void;
}

/**
 * Creates the argument parser of a command. Invalid arguments throw an error, which {@link runCommand} prints.
 *
 * @param script command as typed, such as `npm run drift --`
 */
export function commandParser(script: string, description: string): Command {
  parser = new Command(script)
    .description(description)
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  return parser;
}

/** Returns the stack's name from the command's arguments, for suggested commands. */
function namedStack(): string | undefined {
  const at = parser?.registeredArguments.findIndex((argument) => argument.name() === "stack") ?? -1;
  return at === -1 ? undefined : parser?.args[at];
}

/** Creates an error for arguments that the parser itself cannot validate. */
export function usageError(message: string): CommanderError {
  return new CommanderError(USAGE, "steward.usage", message);
}

/**
 * Runs a command and exits the process. Exit codes: 0 after help, 2 after invalid arguments, 1 after other errors,
 * else the result of `main`.
 *
 * @param script command as typed, for the hint in a usage error
 */
export async function runCommand(
  script: string,
  main: (argv: string[], output: CommandOutput) => Promise<number>,
): Promise<never> {
  const lost = lostOutput();
  const argv = process.argv.slice(2);
  const json = argv.includes("--json");
  const out = json ? process.stderr : process.stdout;
  const output: CommandOutput = {
    say: (text) => writeText(out, text),
    log: (line) => printError(`${line}\n`),
    ...(out.isTTY && {
      status: (line) => writeText(out, line.slice(0, (out.columns || 80) - 1), (shown) => CLEAR_LINE + shown),
    }),
    report: (result) => (json ? print(`${JSON.stringify(result)}\n`) : undefined),
  };
  const ended = main(argv, output).catch((error: unknown) =>
    error instanceof CommanderError ? refuseUsage(error, script, output) : refuse(error, output),
  );
  const code = await ended;
  await Promise.all([process.stdout, process.stderr].map(written));
  return process.exit(lost() ? 1 : code);
}

/**
 * Handles failed writes to standard output and error, which would otherwise crash the process. The returned function
 * returns true if output was lost, for example on a full disk.
 */
function lostOutput(): () => boolean {
  let isLost = false;
  const note = ({ code }: NodeJS.ErrnoException): void => {
    isLost ||= code !== "EPIPE";
  };
  for (const stream of [process.stdout, process.stderr]) stream.on("error", note);
  return () => isLost;
}

/** Waits until a stream is flushed, because exiting the process drops pending output. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => void stream.write("", () => done()));
}

function refuseUsage(error: CommanderError, script: string, { report }: CommandOutput): number {
  // The user asked for help, and the parser has printed it.
  if (error.exitCode === 0) return 0;
  const cause = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  printError(`error: ${cause}\nUsage: ${script} --help\n`);
  report({ ok: false, code: "usage", cause });
  return USAGE;
}

function refuse(error: unknown, { report }: CommandOutput): number {
  const explanation = placed(explain(error, commandsFor(namedStack())));
  printError(`${explanationText(explanation)}\n`);
  report({ ok: false, ...explanation });
  return 1;
}

/**
 * Replaces `<stack>` in the suggested fix with the stack from the command's arguments. Providers do not know the
 * stack during a refresh or destroy.
 */
function placed(explanation: Explanation): Explanation {
  const stack = namedStack();
  if (stack === undefined) return explanation;
  return { ...explanation, fix: explanation.fix?.replaceAll("<stack>", shellWord(stack)) };
}
