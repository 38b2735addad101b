import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

/** A step of a job or of a composite action; only what is read here. */
export interface Step {
  id?: string;
  if?: string;
  uses?: string;
  run?: string;
  with?: Record<string, string>;
  env?: Record<string, string>;
}

/** A job: steps, or another workflow that it calls. */
export interface Job {
  needs?: string | string[];
  if?: string;
  uses?: string;
  with?: Record<string, string>;
  env?: Record<string, string>;
  environment?: string;
  permissions?: Record<string, string>;
  outputs?: Record<string, string>;
  strategy?: { matrix: Record<string, string[]> };
  steps?: Step[];
}

/** A workflow file. */
export interface Workflow {
  name: string;
  on: Record<string, { inputs?: Record<string, { default?: string }> } | null>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

/** Folder of the repository's workflows and actions. */
export const GITHUB = resolve(".github");
const SETUP = "./.github/actions/setup";

export const workflowFiles = (): string[] =>
  readdirSync(join(GITHUB, "workflows"))
    .filter((name) => name.endsWith(".yml"))
    .sort();

export function readWorkflow(file: string): Workflow {
  return parse(readFileSync(join(GITHUB, "workflows", file), "utf8")) as Workflow;
}

/** Returns the names of the jobs that a job waits for. */
export const neededBy = ({ needs = [] }: Job): string[] => [needs].flat();

/** Returns the steps of a job, with those of the repository's own action in its place. */
export function stepsOf({ steps = [] }: Job): Step[] {
  return steps.flatMap((step) => (step.uses === SETUP ? setupSteps() : [step]));
}

function setupSteps(): Step[] {
  const text = readFileSync(join(GITHUB, "actions/setup/action.yml"), "utf8");
  return (parse(text) as { runs: { steps: Step[] } }).runs.steps;
}
