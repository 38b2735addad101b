import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { runProcess } from "../../infra/shell/process.ts";
import { evaluate, fill, type Contexts } from "./expression.ts";
import { neededBy, readWorkflow, stepsOf, type Job, type Step } from "./read.ts";

/** How a job ended. One of a matrix has its value behind its name. */
export interface JobResult {
  result: "success" | "failure" | "skipped";
  outputs: Record<string, string>;
  /** What ran, and how it ended. */
  ran: { command: string; code: number; said: string }[];
}

/** Where workflows are run. */
export interface RunnerOptions {
  /** The checkout. */
  root: string;
  vars: Record<string, string>;
  secrets: Record<string, string>;
  /** Variables that the actions which are left out would have set. */
  environment: Record<string, string>;
  /** More of what is left out, by how it begins, and why; a whole job by `job <name>`. It counts as done. */
  leftOut?: Readonly<Record<string, string>>;
}

/** What is left out, by how it begins, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "actions/checkout@": "the checkout is there",
  "actions/setup-node@": "Node is there",
  "actions/setup-go@": "Go is there",
  "actions/cache@": "the cache is this machine's",
  "npm ci": "the packages are there",
  "sigstore/cosign-installer@": "cosign is on PATH",
  "pulumi/actions@": "the CLI is on PATH",
  "pulumi/auth-actions@": "it signs in to Pulumi Cloud",
  ".ci/run": "it runs this test",
  "gh pr comment": "it posts to GitHub",
};

/** Runs workflows on this machine, step by step, each job in the same checkout without what the one before recorded. */
export class LocalRunner {
  /** What was left out and why, a line each. */
  readonly leftOut: string[] = [];
  readonly #options: RunnerOptions;
  readonly #artifacts: string;

  static async start(options: RunnerOptions): Promise<LocalRunner> {
    return new LocalRunner(options, await mkdtemp(join(tmpdir(), "steward-artifacts-")));
  }

  private constructor(options: RunnerOptions, artifacts: string) {
    this.#options = options;
    this.#artifacts = artifacts;
  }

  /**
   * Runs every job of a workflow, in its order.
   *
   * @param given `github` and `inputs` of the event, and `vars` beside the repository's
   */
  async run(file: string, given: Contexts): Promise<Record<string, JobResult>> {
    const { secrets } = this.#options;
    const vars = { ...this.#options.vars, ...(given["vars"] as Record<string, string> | undefined) };
    const needs: Record<string, JobResult> = {};
    const results: Record<string, JobResult> = {};
    for (const [name, job] of Object.entries(readWorkflow(file).jobs)) {
      const contexts = { inputs: {}, ...given, vars, secrets, needs };
      for (const [suffix, matrix] of matrixOf(job)) {
        const result = await this.#job(name, job, { ...contexts, matrix });
        needs[name] = result;
        results[`${name}${suffix}`] = result;
      }
    }
    return results;
  }

  /** A file of an artifact, as text. */
  artifact(name: string, file: string): Promise<string> {
    return readFile(join(this.#artifacts, name, file), "utf8");
  }

  close(): Promise<void> {
    return rm(this.#artifacts, { recursive: true, force: true });
  }

  async #job(name: string, job: Job, contexts: Contexts): Promise<JobResult> {
    const before = neededBy(job).map((one) => evaluate(`needs.${one}.result`, contexts));
    const mayRun = before.every((result) => result === "success") || job.if?.includes("always()");
    if (!mayRun || (job.if !== undefined && !evaluate(job.if, contexts)))
      return { result: "skipped", outputs: {}, ran: [] };
    if (this.#reasonToLeaveOut(`job ${name}`) !== undefined)
      return { result: "success", outputs: {}, ran: [] };
    if (job.uses !== undefined) return this.#called(job, contexts);
    for (const folder of [".steward/rollouts", "dist/release"]) {
      await rm(join(this.#options.root, folder), { recursive: true, force: true });
    }
    const steps: Record<string, { outputs: Record<string, string> }> = {};
    const done: JobResult = { result: "success", outputs: {}, ran: [] };
    for (const step of stepsOf(job)) {
      const here = { ...contexts, steps };
      if (!evaluate(step.if ?? "always()", here)) continue;
      if (done.result === "failure" && !step.if?.includes("always()")) continue;
      if (!(await this.#step(step, job, here, done))) done.result = "failure";
    }
    for (const [output, value] of Object.entries(job.outputs ?? {})) {
      done.outputs[output] = fill(value, { ...contexts, steps });
    }
    return done;
  }

  /** A workflow of one job: its outputs are the job's. */
  async #called({ uses = "", with: given = {} }: Job, contexts: Contexts): Promise<JobResult> {
    const inputs = Object.fromEntries(
      Object.entries(given).map(([name, text]) => [name, fill(text, contexts)]),
    );
    const [result] = Object.values(await this.run(basename(uses), { ...contexts, inputs }));
    if (result === undefined) throw new Error(`${uses} has no job`);
    return result;
  }

  /** Records that something is left out, if it is. */
  #reasonToLeaveOut(what: string): string | undefined {
    const all = { ...LEFT_OUT, ...this.#options.leftOut };
    const reason = Object.entries(all).find(([start]) => what.startsWith(start))?.[1];
    if (reason !== undefined) this.leftOut.push(`left out: ${what} (${reason})`);
    return reason;
  }

  /** @returns whether it went well */
  async #step(step: Step, job: Job, contexts: Contexts, done: JobResult): Promise<boolean> {
    const what = step.uses ?? step.run ?? "";
    if (this.#reasonToLeaveOut(what) !== undefined) return true;
    if (step.uses !== undefined) return this.#artifactStep(step, contexts);
    const written = join(this.#artifacts, "github-output");
    await rm(written, { force: true });
    const own = Object.entries({ ...job.env, ...step.env }).map(([name, text]) => [
      name,
      fill(text, contexts),
    ]);
    const env = {
      ...process.env,
      ...this.#options.environment,
      CI: "true",
      GITHUB_OUTPUT: written,
      ...Object.fromEntries(own),
    };
    const { code, stdout, stderr } = await runProcess("bash", ["-e", "-c", what], {
      cwd: this.#options.root,
      env,
    });
    done.ran.push({ command: what, code, said: stdout + stderr });
    if (step.id !== undefined) {
      const steps = contexts["steps"] as Record<string, { outputs: Record<string, string> }>;
      steps[step.id] = { outputs: await outputsIn(written) };
    }
    return code === 0;
  }

  async #artifactStep({ uses = "", with: given = {} }: Step, contexts: Contexts): Promise<boolean> {
    // A `pattern` only matches artefacts of jobs that are left out here.
    if (given["pattern"] !== undefined) return uses.startsWith("actions/download-artifact@");
    const stored = join(this.#artifacts, fill(given["name"] ?? "", contexts));
    const place = join(this.#options.root, fill(given["path"] ?? ".", contexts));
    const [from, to] = uses.startsWith("actions/upload-artifact@") ? [place, stored] : [stored, place];
    if (!uses.startsWith("actions/upload-artifact@") && !uses.startsWith("actions/download-artifact@")) {
      throw new Error(`an action that is not run here: ${uses}`);
    }
    if (!existsSync(from)) return given["if-no-files-found"] === "warn";
    // A single file is stored by its name.
    const isFile = /\.\w+$/.test(basename(from));
    await mkdir(dirname(to), { recursive: true });
    await cp(from, isFile ? join(to, basename(from)) : to, { recursive: true });
    return true;
  }
}

/** Each combination of a matrix of one dimension, by what is put behind the job's name. */
function matrixOf({ strategy }: Job): [suffix: string, matrix: Record<string, string>][] {
  const [dimension] = Object.entries(strategy?.matrix ?? {});
  if (dimension === undefined) return [["", {}]];
  const [name, values] = dimension;
  return values.map((value) => [` ${value}`, { [name]: value }]);
}

/** https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-output-parameter */
async function outputsIn(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line.includes("="));
  return Object.fromEntries(
    lines.map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)]),
  );
}
