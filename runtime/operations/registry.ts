import { StewardError } from "../contract/errors.ts";
import { formOf, readInput } from "./form.ts";
import type { Operation } from "./operation.ts";

/** Operations that share their first word; one that is named by that word alone is a group too. */
export interface Group {
  name: string;
  summary: string;
  /** A command loads its own group alone. */
  load(): Promise<readonly Operation[]>;
  /** The command line does not have it. */
  hidden?: true;
}

/** Every group, in the order of the help. */
export const GROUPS: readonly Group[] = [
  {
    name: "cat",
    summary: "a file of the data directory",
    load: async () => [(await import("./cat.ts")).cat],
    hidden: true,
  },
  {
    name: "devices",
    summary: "the browsers of the web chat",
    load: async () => Object.values((await import("./devices.ts")).devices),
  },
  {
    name: "pairing",
    summary: "who asks to write to the bot",
    load: async () => Object.values((await import("./pairing.ts")).pairing),
  },
  {
    name: "config",
    summary: "the gateway's config file",
    load: async () => Object.values((await import("./config.ts")).config),
  },
  {
    name: "health",
    summary: "whether the gateway is ready",
    load: async () => [(await import("./status.ts")).health],
  },
  {
    name: "status",
    summary: "the gateway, its config, and who waits for approval",
    load: async () => [(await import("./status.ts")).status],
  },
  {
    name: "channels",
    summary: "the chat platforms",
    load: async () => Object.values((await import("./channels.ts")).channels),
  },
  {
    name: "models",
    summary: "the models that answer",
    load: async () => Object.values((await import("./models.ts")).models),
  },
  {
    name: "sessions",
    summary: "conversations with their models and sizes",
    load: async () => Object.values((await import("./sessions.ts")).sessions),
  },
  {
    name: "workspace",
    summary: "the files that the assistant reads",
    load: async () => Object.values((await import("./workspace.ts")).workspace),
  },
  {
    name: "schedules",
    summary: "messages that the bot sends at set times",
    load: async () => Object.values((await import("./schedules.ts")).schedules),
  },
  {
    name: "usage",
    summary: "tokens by day and model",
    load: async () => [(await import("./usage.ts")).usage],
  },
  {
    name: "backup",
    summary: "copies of the data directory",
    load: async () => Object.values((await import("./backup.ts")).backup),
  },
  {
    name: "completion",
    summary: "completions for bash, zsh and fish",
    load: async () => [(await import("./completion.ts")).completion],
  },
  {
    name: "doctor",
    summary: "checks for problems and fixes what it can",
    load: async () => [(await import("./doctor.ts")).doctor],
  },
];

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
