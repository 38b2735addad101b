import { StewardError } from "../../contract/errors.ts";
import type { Redactor } from "../../contract/redact.ts";

/** Where a command's words go; exit code 1 where something is wrong. */
export interface Output {
  /** One answer: the text, or with `--json` the value. */
  answer(json: boolean | undefined, value: unknown, text: string): void;
  /** Text as it stands, such as a help page. */
  text(text: string): void;
  /** Something the operator should know beside the answer. */
  warn(text: string): void;
  /** What went wrong, and its fix; with `--json` as an object on standard output too. */
  fail(json: boolean, error: unknown): void;
}

/** What a process's output is made of. */
export interface OutputOptions {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  /** For failures and warnings. Answers are left as they are: they hold a secret only on demand. */
  redact: Redactor;
}

/** An output over the streams of a process. */
export function processOutput({ stdout, stderr, redact }: OutputOptions): Output {
  const line = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  return {
    answer: (json, value, text) => void stdout.write(json ? line(value) : `${text}\n`),
    text: (text) => void stdout.write(text),
    warn: (text) => void stderr.write(`${redact(text)}\n`),
    fail: (json, error) => {
      const message = redact(error instanceof Error ? error.message : String(error));
      const known = error instanceof StewardError ? error.reason : undefined;
      if (json) {
        const failure = { code: known?.code ?? "internal", message, ...(known && { fix: known.fix }) };
        stdout.write(line({ error: failure }));
      }
      stderr.write(known ? `${message}\nFix: ${known.fix}\n` : `${message}\n`);
    },
  };
}
