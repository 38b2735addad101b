import { styleText } from "node:util";
import { StewardError } from "../../contract/errors.ts";
import { writeText } from "../../shared/terminal.ts";
import type { Redactor } from "../../shared/redact.ts";
import type { Environment } from "../../contract/variables.ts";
import type { ProcessSettings } from "../../process/settings.ts";

export interface CommandContext {
  environment: Environment;
  settings: ProcessSettings;
  redact: Redactor;
  output: Output;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Sets the exit code, for a command that prints a result but found a problem. */
  setExitCode(code: number): void;
}

interface Output {
  /** Prints `text`, or `value` as JSON if `json` is true. */
  answer(json: boolean | undefined, value: unknown, text: string): void;
  /**
   * Prints a file's text. On a terminal, escapes control characters; otherwise prints the text unchanged, so that it
   * can be redirected to a file.
   */
  file(text: string): void;
  /** Prints text unchanged. */
  text(text: string): void;
  /** Prints to stderr. */
  warn(text: string): void;
  /** Prints the error and its fix to stderr. If `json` is true, also prints a JSON object to stdout. */
  fail(json: boolean, error: unknown): void;
}

interface OutputOptions {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  /** Redacts failures and warnings, but not results, which contain secrets only on request. */
  redact: Redactor;
}

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

const STATES =
  /\b(?:(not valid|failing|failed|no answer|revoked)|(starting|pending|missed|cooling|disabled)|(ready|valid|answered|complete|done))\b/g;
const COLOURS = ["red", "yellow", "green"] as const;

/** Highlights table headers and states. Without a terminal, or with NO_COLOR, returns the text unchanged. */
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
