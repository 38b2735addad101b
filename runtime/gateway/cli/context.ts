import { styleText } from "node:util";
import { StewardError } from "../../contract/errors.ts";
import { writeText } from "../../shared/terminal.ts";
import type { Redactor } from "../../shared/redact.ts";
import type { Environment } from "../../contract/variables.ts";
import type { ProcessSettings } from "../../process/settings.ts";

/** Dependencies of every command. */
export interface CommandContext {
  environment: Environment;
  settings: ProcessSettings;
  redact: Redactor;
  output: Output;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** For a command that answered and yet found something wrong. */
  setExitCode(code: number): void;
}

/** Destination of a command's words; exit code 1 where something is wrong. */
interface Output {
  /** One answer: the text, or with `--json` the value. */
  answer(json: boolean | undefined, value: unknown, text: string): void;
  /** A file. Elsewhere than on a terminal its text is written as it is, so that it can be copied. */
  file(text: string): void;
  /** Text as it stands, such as a help page. */
  text(text: string): void;
  /** Something the operator should know beside the answer. */
  warn(text: string): void;
  /** Writes what went wrong, and its fix; with `--json` as an object on standard output too. */
  fail(json: boolean, error: unknown): void;
}

/** Dependencies of a process's output. */
interface OutputOptions {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  /** For failures and warnings. Answers are left as they are: they hold a secret only on demand. */
  redact: Redactor;
}

/** An output over the streams of a process. */
export function processOutput({ stdout, stderr, redact }: OutputOptions): Output {
  const line = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  return {
    answer: (json, value, text) => {
      if (json) writeText(stdout, line(value));
      else writeText(stdout, `${text}\n`, (shown) => coloured(shown, stdout));
    },
    file: (text) => {
      if ("isTTY" in stdout && stdout.isTTY) writeText(stdout, `${text}\n`);
      else stdout.write(text);
    },
    text: (text) => writeText(stdout, text),
    warn: (text) => writeText(stderr, `${redact(text)}\n`),
    fail: (json, error) => {
      const message = redact(error instanceof Error ? error.message : String(error));
      const known = error instanceof StewardError ? error.reason : undefined;
      if (json) {
        const failure = { code: known?.code ?? "internal", message, ...(known && { fix: known.fix }) };
        writeText(stdout, line({ error: failure }));
      }
      writeText(stderr, known ? `${message}\nFix: ${known.fix}\n` : `${message}\n`);
    },
  };
}

/** Words whose colour tells at a glance how something is. */
const STATES =
  /\b(?:(not valid|failing|failed|no answer|revoked)|(starting|pending|missed|cooling|disabled)|(ready|valid|answered|complete|done))\b/g;
const COLOURS = ["red", "yellow", "green"] as const;

/** A text on a terminal: the head of a table stands out, and so do states. Elsewhere, or with NO_COLOR, as it is. */
function coloured(text: string, stream: NodeJS.WritableStream): string {
  if (!("isTTY" in stream) || stream.isTTY !== true) return text;
  const paint = (format: (typeof COLOURS)[number] | "bold", words: string) =>
    styleText(format, words, { stream });
  const [head = "", ...rows] = text.split("\n");
  const states = (line: string) =>
    line.replaceAll(STATES, (word, ...groups: unknown[]) => {
      const tone = COLOURS.find((_, index) => groups[index] !== undefined);
      return tone === undefined ? word : paint(tone, word);
    });
  const isTable = rows.length > 0 && !head.includes(":") && / {2,}/.test(head);
  return [isTable ? paint("bold", head) : states(head), ...rows.map(states)].join("\n");
}
