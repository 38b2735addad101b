import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { appendFile, mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** A shell that a person types into. */
export interface Shell {
  folder: string;
  environment: Record<string, string>;
  /** The file that keeps what was typed and printed. */
  transcript: string;
}

/** One typed line, and its end. */
export interface Typed {
  line: string;
  code: number;
  said: string;
}

/** The lines of the shell blocks of a chapter of README.md, in their order, without comments. */
export function linesOf(chapter: string): string[] {
  const text = readFileSync(resolve("README.md"), "utf8");
  const [, rest = ""] = text.split(`\n## ${chapter}\n`);
  const [body = ""] = rest.split("\n## ", 1);
  const blocks = [...body.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)].map(([, , block = ""]) => block);
  const lines = blocks
    .flatMap((block) => block.split("\n"))
    .map((line) => line.replace(/\s+#.*$/, "").trim());
  return lines.filter(Boolean);
}

/** Types a line into a shell. What a person would confirm is confirmed, since there is no terminal. */
export async function type({ folder, environment, transcript }: Shell, line: string): Promise<Typed> {
  const confirmed = /^pulumi (up|refresh|destroy|import)\b/.test(line) ? `${line} --yes` : line;
  const env = { ...process.env, ...environment };
  const typed = await new Promise<Typed>((done) => {
    execFile("sh", ["-c", confirmed], { cwd: folder, env, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      done({ line, code, said: stdout + stderr });
    });
  });
  await mkdir(dirname(transcript), { recursive: true });
  await appendFile(transcript, `$ ${confirmed}\n${typed.said}\n`);
  return typed;
}

/** Puts a person's own values in place of a line's `<placeholders>`. */
export function filled(line: string, values: Readonly<Record<string, string>>): string {
  const key = Object.keys(values).find((name) => line.includes(`${name} <`));
  const text = key === undefined ? line : line.replace(/<[^>]+>$/, values[key] ?? "");
  if (/<\w/.test(text)) throw new Error(`nothing to put in place of the placeholder of: ${line}`);
  return text;
}
