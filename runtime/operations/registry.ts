import { StewardError } from "../contract/errors.ts";
import { backup } from "./backup.ts";
import { cat } from "./cat.ts";
import { channels } from "./channels.ts";
import { completion } from "./completion.ts";
import { config } from "./config.ts";
import { contract } from "./contract.ts";
import { devices } from "./devices.ts";
import { doctor } from "./doctor.ts";
import { synopsis, readInput } from "./form.ts";
import { models } from "./models.ts";
import type { Operation } from "./operation.ts";
import { pairing } from "./pairing.ts";
import { people } from "./people.ts";
import { schedules } from "./schedules.ts";
import { sessions } from "./sessions.ts";
import { health, status } from "./status.ts";
import { undo } from "./undo.ts";
import { usage } from "./usage.ts";
import { workspace } from "./workspace.ts";

/** Operations with the same first word. An operation with a single-word name forms its own group. */
export interface Group {
  name: string;
  summary: string;
  operations: readonly Operation[];
}

/** All groups. The help keeps this order. */
export const GROUPS: readonly Group[] = Object.entries<[string, Record<string, Operation> | Operation[]]>({
  cat: ["a file of the data directory", [cat]],
  devices: ["the browsers of the web chat", devices],
  people: ["who has written to the bot", people],
  pairing: ["requests to write to the bot", pairing],
  config: ["the gateway's config file", config],
  health: ["whether the gateway is ready", [health]],
  status: ["the gateway, its config, and who waits for approval", [status]],
  channels: ["the chat platforms", channels],
  contract: ["received data that was not understood", [contract]],
  models: ["the models that answer", models],
  sessions: ["conversations with their models and sizes", sessions],
  workspace: ["the files that the assistant reads", workspace],
  schedules: ["messages that the bot sends at set times", schedules],
  usage: ["tokens by day and model", [usage]],
  backup: ["copies of the data directory", backup],
  completion: ["completions for bash, zsh and fish", [completion]],
  undo: ["undoes a removal made on a page", [undo]],
  doctor: ["checks for problems and fixes what it can", [doctor]],
}).map(([name, [summary, operations]]) => ({ name, summary, operations: Object.values(operations) }));

/** All groups except `cat` and `undo`, which exist only in the console. */
export const TERMINAL_GROUPS = GROUPS.filter(({ name }) => name !== "cat" && name !== "undo");

export interface Request {
  operation: Operation;
  input: object;
}

/** @throws StewardError `command_not_allowed`, `usage_invalid` */
export function readRequest(name: unknown, input: unknown): Request {
  const operation = GROUPS.flatMap(({ operations }) => operations).find((one) => one.name === name);
  if (operation === undefined) throw notAllowed(undefined, String(name));
  return { operation, input: readConsoleInput(operation, input) };
}

/**
 * Validates an operation's input from the console.
 *
 * @throws StewardError `usage_invalid`; `command_not_allowed` for an operation or key that only the command line
 * may use.
 */
export function readConsoleInput(operation: Operation, given: unknown): object {
  if (!operation.rights.includes("console")) throw notAllowed(undefined, operation.name);
  const kept = operation.terminalOnly?.find((key) => Object.hasOwn(Object(given), key));
  if (kept !== undefined) throw notAllowed(`Only the command line takes --${kept}.`, operation.name);
  const input = readInput(operation, given);
  const refused = operation.refused?.(input);
  if (refused !== undefined) throw notAllowed(refused, operation.name);
  return input;
}

/**
 * Returns the error for a command that the console refuses. Lists the allowed commands of the group that `meant`
 * names, or of all groups.
 */
export function notAllowed(detail = "This command is not in the list.", meant = ""): StewardError {
  const allowed = GROUPS.flatMap(({ operations }) => operations).filter(({ rights }) =>
    rights.includes("console"),
  );
  const [first] = meant.split(" ");
  const ofGroup = allowed.filter(({ name }) => name.split(" ")[0] === first);
  const forms = (ofGroup.length > 0 ? ofGroup : allowed).map((one) => synopsis(one, "console"));
  const help = `Allowed are: ${forms.join(", ")}; each also with --json.`;
  return new StewardError("command_not_allowed", `${detail} ${help}`);
}
