import { StewardError } from "./errors.ts";

/**
 * Operations that `/debug/cli` may run: literal words, `<needed>` and `[optional]` arguments. No command sends a message at once. Some
 * change who may use the bot, add a backup, or make the repairs that `doctor` offers, which lose nothing.
 */
const FORMS = [
  "cat <file>",
  "devices list",
  "devices approve <requestId>",
  "devices approve <requestId> --operator",
  "devices reject <requestId>",
  "devices grant <deviceId> <role>",
  "devices revoke <deviceId>",
  "pairing list [platform]",
  "pairing approve <platform> <code>",
  "pairing approve <platform> <code> --operator",
  "pairing reject <platform> <code>",
  "pairing grant <platform> <sender> <role>",
  "pairing revoke <platform> <sender>",
  "config get <path>",
  "config validate",
  "status",
  "channels status",
  "models list",
  "models test <model>",
  "sessions list",
  "sessions show <conversation>",
  "sessions messages <conversation>",
  "sessions reset <conversation>",
  "sessions delete <conversation>",
  "workspace list [root] [after]",
  "workspace show <file> [version]",
  "workspace write <file> <expected> -- <text>",
  "workspace remove <file> <expected>",
  "schedules list",
  "schedules add --to <chat> --cron <expression> --text <text>",
  "schedules add --to <chat> --cron <expression> --prompt <text>",
  "schedules add --to <chat> --cron <expression> --timezone <zone> --text <text>",
  "schedules add --to <chat> --cron <expression> --timezone <zone> --prompt <text>",
  "schedules add --to <chat> --every <duration> --text <text>",
  "schedules add --to <chat> --every <duration> --prompt <text>",
  "schedules add --to <chat> --at <time> --text <text>",
  "schedules add --to <chat> --at <time> --prompt <text>",
  "schedules pause <id>",
  "schedules resume <id>",
  "schedules run <id>",
  "schedules history",
  "schedules remove <id>",
  "backup list",
  "backup create",
  "backup verify <id>",
  "doctor",
  "doctor --fix",
] as const;

/** The forms as people read them. */
const OPERATION_HELP = `Allowed are: ${FORMS.join(", ")}; all but cat also with --json.`;

/** Outcome of an allowed line: a file of the data directory to read, or arguments of the command line. */
export type Operation = { kind: "cat"; file: string } | { kind: "command"; args: string[]; changes: boolean };

/** Verbs that are recorded: they change something, or show what people wrote. */
const RECORDED: ReadonlySet<string> = new Set([
  "approve",
  "reject",
  "grant",
  "revoke",
  "create",
  "add",
  "remove",
  "write",
  "pause",
  "resume",
  "run",
  "reset",
  "delete",
  "messages",
  "test",
  "--fix",
]);
const JSON_FLAG = "--json";
/** Options that a value follows. */
const VALUED: ReadonlySet<string> = new Set(
  FORMS.flatMap((form) => [...form.matchAll(/(--[a-z]+) </g)].map(([, option = ""]) => option)),
);
const LONGEST_LINE = 1_024;

/**
 * The words of a line: parted by blanks, with single or double quotes around what holds some. There is
 * no escape and no expansion, since no shell ever sees it.
 *
 * @throws StewardError `command_not_allowed` for a line that is too long, has an open quote or control characters.
 */
export function splitWords(line: string): string[] {
  if (line.length > LONGEST_LINE) throw refused(`The line is longer than ${LONGEST_LINE} characters.`);
  if (/\p{Cc}/u.test(line)) throw refused("The line holds control characters.");
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const character of line) {
    if (quote !== undefined && character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      // Two quotes with nothing between them are a word, too.
      word ??= "";
    } else if (quote === undefined && character === " ") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ""}${character}`;
  }
  if (quote !== undefined) throw refused(`The quote ${quote} is not closed.`);
  return word === undefined ? words : [...words, word];
}

/**
 * The operation that words name.
 *
 * @throws StewardError `command_not_allowed` for all that is not in the list.
 */
export function readOperation(words: readonly string[]): Operation {
  if (words[0] === "cat") return readCat(words);
  const rest = withoutJson(words);
  if (!FORMS.some((form) => matches(form.split(" "), rest))) throw refused();
  const changes = RECORDED.has(rest[1] ?? "");
  return { kind: "command", args: rest.length < words.length ? withJson(rest) : rest, changes };
}

/** Removes the option `--json`; as the value of another option, or after `--`, it stays. */
function withoutJson(words: readonly string[]): string[] {
  const rest: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--") return [...rest, ...words.slice(index)];
    if (word !== JSON_FLAG) rest.push(word);
    const value = words[index + 1];
    if (!VALUED.has(word) || value === undefined) continue;
    rest.push(value);
    index += 1;
  }
  return rest;
}

/** Adds `--json` to the words of a line, before two dashes, behind which nothing is an option. */
export function withJson(words: readonly string[]): string[] {
  const end = words.indexOf("--");
  return end === -1 ? [...words, JSON_FLAG] : [...words.slice(0, end), JSON_FLAG, ...words.slice(end)];
}

function readCat([, file, ...others]: readonly string[]): Operation {
  if (file === undefined || file === "" || others.length > 0) throw refused("cat takes one file.");
  if (file.split("/").includes("..")) throw refused("The file lies outside the data directory.");
  return { kind: "cat", file };
}

function matches(form: readonly string[], words: readonly string[]): boolean {
  const fits = form.every((part, index) => {
    if (part.startsWith("[")) return true;
    return part.startsWith("<") ? words[index] !== undefined : words[index] === part;
  });
  // An argument that begins with a dash would be an option to the program: only those of the form itself are.
  // The value of an option, and everything after `--`, may be any text: commander takes neither for an option.
  const end = form.indexOf("--");
  const plain = words.every((word, index) => {
    const isValue = form[index]?.startsWith("<") && form[index - 1]?.startsWith("--");
    return (
      isValue || (end !== -1 && index > end) || form.includes(word) || (word !== "" && !word.startsWith("-"))
    );
  });
  return fits && plain && words.length <= form.length;
}

function refused(detail = "This command is not in the list."): StewardError {
  return new StewardError("command_not_allowed", `${detail} ${OPERATION_HELP}`);
}
