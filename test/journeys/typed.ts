import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expect } from "vitest";
import { fileBackend } from "../../rehearsal/engine/index.ts";
import { PASSPHRASE, testEngine, type TestStack } from "../support/stack.ts";

/** A shell that a person types into. */
export interface Shell {
  folder: string;
  environment: Record<string, string>;
  /** The file that keeps what was typed and printed. */
  transcript: string;
}

/** Options of {@link openShell}. */
interface ShellOptions {
  /** Folder of the state. Default: `state` in the shell's folder. */
  state?: string;
  /** The engine has the Docker provider. Default: false. */
  docker?: boolean;
  /** More variables. */
  environment?: Record<string, string>;
}

/**
 * Opens a shell in a folder, with the engine's CLI and a backend of its own.
 *
 * @param name of the transcript, which begins empty
 */
export async function openShell(folder: string, name: string, options: ShellOptions = {}): Promise<Shell> {
  const { state = join(folder, "state"), docker = false, environment = {} } = options;
  await mkdir(state, { recursive: true });
  return {
    folder,
    environment: {
      ...(await testEngine({ docker })).env,
      PULUMI_BACKEND_URL: fileBackend(state),
      PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
      ...environment,
    },
    transcript: await beginTranscript(name),
  };
}

async function beginTranscript(name: string): Promise<string> {
  const file = resolve(`.steward/artefacts/transcripts/${name}.txt`);
  await rm(file, { force: true });
  return file;
}

/** What `pulumi up` runs in a folder: the program of every stack. */
const PROGRAM = `export { default } from ${JSON.stringify(resolve("stacks/index.js"))};`;

/**
 * Opens a shell in the folder of a stack that the Automation API has made, and makes that folder a project like this one:
 * `pulumi up` finds a program there, and `npm run` the commands of package.json.
 *
 * @param name of the transcript, which begins empty
 * @param program the text of a module; default: the program of every stack
 */
export async function stackShell(subject: TestStack, name: string, program = PROGRAM): Promise<Shell> {
  const { folder, environment } = subject;
  const own = JSON.parse(readFileSync(resolve("package.json"), "utf8")) as { scripts: object };
  const scripts = Object.entries(own.scripts).map(([script, line]) => [
    script,
    String(line).replace(/^node (\S+)/, (_, file: string) => `node '${resolve(file)}'`),
  ]);
  const about = { type: "module", main: "index.js", scripts: Object.fromEntries(scripts) };
  const project = readFileSync(join(folder, "Pulumi.yaml"), "utf8");
  const untyped = '{"name":"nodejs","options":{"typescript":false}}';
  await writeFile(join(folder, "Pulumi.yaml"), project.replace(/^runtime: .*$/m, `runtime: ${untyped}`));
  await writeFile(join(folder, "package.json"), JSON.stringify(about));
  await writeFile(join(folder, "index.js"), program);
  return { folder, environment, transcript: await beginTranscript(name) };
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
  const asks = /^(pulumi (up|refresh|destroy|import|cancel)|npm run rollout)\b/;
  const confirmed = asks.test(line) ? `${line} --yes` : line;
  const env = { ...process.env, ...environment };
  const started = performance.now();
  const typed = await new Promise<Typed>((done) => {
    execFile("sh", ["-c", confirmed], { cwd: folder, env, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      done({ line, code, said: stdout + stderr });
    });
  });
  await keep(transcript, { ...typed, line: confirmed }, `ended with ${typed.code}`, started);
  return typed;
}

/** Types a line that has to succeed. */
export async function succeed(shell: Shell, line: string): Promise<Typed> {
  const typed = await type(shell, line);
  expect(typed.code, `${line}\n${typed.said}`).toBe(0);
  return typed;
}

/** Types a line, and kills that process alone as soon as it has printed a text: what an out-of-memory kill does. */
export async function typeAndKill(
  { folder, environment, transcript }: Shell,
  line: string,
  printed: string,
): Promise<void> {
  const started = performance.now();
  const env = { ...process.env, ...environment };
  const child = spawn("sh", ["-c", `exec ${line} --yes`], { cwd: folder, env });
  let said = "";
  const hear = (chunk: Buffer): void => {
    said += chunk.toString();
    if (said.includes(printed)) child.kill("SIGKILL");
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const [code] = (await once(child, "exit")) as [number | null];
  await keep(
    transcript,
    { line: `${line} --yes`, said },
    code === null ? "killed" : `ended with ${code}`,
    started,
  );
  if (code !== null) throw new Error(`it ended before "${printed}":\n${said}`);
}

/** Appends a line, what it printed, its end and its time to the transcript. */
async function keep(
  transcript: string,
  { line, said }: Pick<Typed, "line" | "said">,
  end: string,
  started: number,
): Promise<void> {
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  await mkdir(dirname(transcript), { recursive: true });
  await appendFile(transcript, `$ ${line}\n${said}[${end} after ${seconds} s]\n\n`);
}

/** Returns the remedy that is printed for a code. */
export function fixFor(code: string, said: string): string {
  // The engine's list of steps has the cause alone, so that a remedy further below may belong to another code.
  const [, ...parts] = said.split(`(${code})`);
  const own = parts.map((part) => part.split(/\([a-z]+_[a-z_]+\)/, 1)[0] ?? "");
  const fixes = own.flatMap((part) => /\bfix: ([^\n]+)/.exec(part)?.[1] ?? []);
  return fixes[0] ?? `no fix for ${code} in ${said}`;
}

/** The commands of a fix: each alternative is a list of which all are typed. */
export function waysOf(fix: string): string[][] {
  if (/^(?:pulumi|npm|npx) /.test(fix)) return [[fix]];
  return fix
    .split(/, or (?=`)/)
    .map((part) => [...part.matchAll(/`((?:pulumi|npm|npx) [^`]+)`/g)].map(([, line = ""]) => line))
    .filter((lines) => lines.length > 0);
}

/** Types the first command of a printed fix, which has to succeed; `fill` puts a person's own values in. */
export async function typeFix(shell: Shell, fix: string, fill = (line: string) => line): Promise<Typed> {
  const line = fill(waysOf(fix)[0]?.[0] ?? "");
  expect(line, fix).toMatch(/^\w[^<]+$/);
  return succeed(shell, line);
}

/** Puts a person's own values in place of a line's `<placeholders>`. */
export function filled(line: string, values: Readonly<Record<string, string>>): string {
  const key = Object.keys(values).find((name) => line.includes(`${name} <`));
  const text = key === undefined ? line : line.replace(/<[^>]+>$/, values[key] ?? "");
  if (/<\w/.test(text)) throw new Error(`nothing to put in place of the placeholder of: ${line}`);
  return text;
}
