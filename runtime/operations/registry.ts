import { StewardError } from "../contract/errors.ts";
import { formOf, readInput } from "./form.ts";
import type { Operation } from "./operation.ts";

/** Operations that share their first word. One that is named by that word alone is a group too. */
export interface Group {
  name: string;
  summary: string;
  /** A command loads its own group alone. */
  load(): Promise<readonly Operation[]>;
}

/** Every group, in the order of the help. */
export const GROUPS: readonly Group[] = (
  [
    ["cat", "a file of the data directory", async () => [(await import("./cat.ts")).cat]],
    [
      "devices",
      "the browsers of the web chat",
      async () => Object.values((await import("./devices.ts")).devices),
    ],
    [
      "pairing",
      "who asks to write to the bot",
      async () => Object.values((await import("./pairing.ts")).pairing),
    ],
    ["config", "the gateway's config file", async () => Object.values((await import("./config.ts")).config)],
    ["health", "whether the gateway is ready", async () => [(await import("./status.ts")).health]],
    [
      "status",
      "the gateway, its config, and who waits for approval",
      async () => [(await import("./status.ts")).status],
    ],
    ["channels", "the chat platforms", async () => Object.values((await import("./channels.ts")).channels)],
    ["models", "the models that answer", async () => Object.values((await import("./models.ts")).models)],
    [
      "sessions",
      "conversations with their models and sizes",
      async () => Object.values((await import("./sessions.ts")).sessions),
    ],
    [
      "workspace",
      "the files that the assistant reads",
      async () => Object.values((await import("./workspace.ts")).workspace),
    ],
    [
      "schedules",
      "messages that the bot sends at set times",
      async () => Object.values((await import("./schedules.ts")).schedules),
    ],
    ["usage", "tokens by day and model", async () => [(await import("./usage.ts")).usage]],
    [
      "backup",
      "copies of the data directory",
      async () => Object.values((await import("./backup.ts")).backup),
    ],
    [
      "completion",
      "completions for bash, zsh and fish",
      async () => [(await import("./completion.ts")).completion],
    ],
    [
      "doctor",
      "checks for problems and fixes what it can",
      async () => [(await import("./doctor.ts")).doctor],
    ],
  ] satisfies [string, string, Group["load"]][]
).map(([name, summary, load]) => ({ name, summary, load }));

/** The groups of the command line. The console alone has `cat`. */
export const TERMINAL_GROUPS = GROUPS.filter(({ name }) => name !== "cat");

/** Returns every operation. It loads all groups. */
async function allOperations(): Promise<Operation[]> {
  return (await Promise.all(GROUPS.map(({ load }) => load()))).flat();
}

/** An operation with the input to run it with. */
export interface Request {
  operation: Operation;
  input: object;
}

/**
 * Reads a request of the console: the name of an operation, and its input as JSON.
 *
 * @throws StewardError `command_not_allowed`, `usage_invalid`
 */
export async function readRequest(name: unknown, input: unknown): Promise<Request> {
  const group = GROUPS.find((one) => one.name === String(name).split(" ")[0]);
  const operation = (await group?.load())?.find((one) => one.name === name);
  if (operation === undefined) throw await notAllowed();
  return { operation, input: await readConsoleInput(operation, input) };
}

/**
 * Checks an input that comes from the console.
 *
 * @throws StewardError `command_not_allowed` for what only the command line may run or give, `usage_invalid`
 */
export async function readConsoleInput(operation: Operation, given: unknown): Promise<object> {
  if (!operation.rights.includes("console")) throw await notAllowed();
  const kept = operation.terminalOnly?.find((key) => Object.hasOwn(Object(given), key));
  if (kept !== undefined) throw await notAllowed(`Only the command line takes --${kept}.`);
  const input = readInput(operation, given);
  const refused = operation.refused?.(input);
  if (refused !== undefined) throw await notAllowed(refused);
  return input;
}

/** Returns the refusal of the console, with everything that it allows. */
export async function notAllowed(detail = "This command is not in the list."): Promise<StewardError> {
  const forms = (await allOperations())
    .filter(({ rights }) => rights.includes("console"))
    .map((one) => formOf(one, "console"));
  const help = `Allowed are: ${forms.join(", ")}; each also with --json.`;
  return new StewardError("command_not_allowed", `${detail} ${help}`);
}
