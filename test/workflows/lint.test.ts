import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { GITHUB, readWorkflow, stepsOf, workflowFiles } from "./read.ts";

const FILES = [...workflowFiles().map((name) => `workflows/${name}`), "actions/setup/action.yml"];

describe.each(FILES)("%s", (file) => {
  const lines = readFileSync(join(GITHUB, file), "utf8").split("\n");

  test("names every action of others by its commit, with the version beside it", () => {
    const used = lines.filter((line) => /^ *(- )?uses: (?!\.\/)/.test(line));
    const loose = used.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line));
    expect(loose).toEqual([]);
  });
});

describe.each(workflowFiles())("%s", (file) => {
  const workflow = readWorkflow(file);
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap(stepsOf);

  test("gives its token no more than reading, signing in, and a comment where no secret is", () => {
    expect(workflow.permissions).toEqual(expect.any(Object));
    const given = [workflow.permissions, ...jobs.map(({ permissions }) => permissions)].map(
      (one) => one ?? {},
    );
    const rights = given.flatMap((permissions) => Object.entries(permissions).map((one) => one.join(": ")));
    expect(["actions: read", "contents: read", "id-token: write", "pull-requests: write"]).toEqual(
      expect.arrayContaining(rights),
    );
    const writing = jobs.filter(({ permissions }) => permissions?.["pull-requests"] === "write");
    expect(JSON.stringify(writing)).not.toContain("secrets.");
  });

  test("leaves no credentials behind in the checkout", () => {
    const checkouts = steps.filter(({ uses = "" }) => uses.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with?.["persist-credentials"])).toEqual(checkouts.map(() => false));
  });

  test("has values of elsewhere in variables, and none in a command line", () => {
    const commands = steps.map(({ run = "" }) => run);
    expect(commands.filter((command) => command.includes("${{"))).toEqual([]);
  });

  test("builds nothing from Go to deploy, and signs in to Pulumi Cloud without a token of its own", () => {
    const text = readFileSync(join(GITHUB, "workflows", file), "utf8");
    expect(text).not.toContain("PULUMI_ACCESS_TOKEN");
    const setups = jobs.filter((job) => stepsOf(job).some(({ uses }) => uses === "./.github/actions/setup"));
    expect(setups.map(({ permissions }) => permissions?.["id-token"])).toEqual(setups.map(() => "write"));
    expect(file === "check.yml" || !/setup-go|npm run engine/.test(text)).toBe(true);
  });

  test("runs what the repository has", () => {
    const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    const unknown = commands.filter((command) => !isKnown(command));
    expect(unknown).toEqual([]);
  });
});

function isKnown(command: string): boolean {
  const script = /^npm run ([\w:]+)( |$)/.exec(command)?.[1];
  if (script !== undefined) return script in packageJson.scripts;
  if (command.startsWith(".ci/")) return isExecutable(command);
  return command === "npm ci" || /^(?:gh pr comment |reviewers=\$\(gh api )/.test(command);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
