import { accessSync, constants, existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { ENGINE_MODULE } from "../../rehearsal/engine/build.ts";
import { builtTag, sourceTag } from "../../scripts/release/check.ts";
import { evaluate } from "./expression.ts";
import { GITHUB, neededBy, readWorkflow, stepsOf, workflowFiles } from "./read.ts";

/** Workflows that a project of a template gets. */
const OF_TEMPLATES = globSync("templates/*/.github/workflows/*.yml").map((file) =>
  relative(join(GITHUB, "workflows"), file),
);
const WORKFLOWS = [...workflowFiles(), ...OF_TEMPLATES];
const FILES = [...WORKFLOWS.map((name) => `workflows/${name}`), "actions/setup/action.yml"];

describe.each(FILES)("%s", (file) => {
  const lines = readFileSync(join(GITHUB, file), "utf8").split("\n");

  test("names every action of others by its commit, with the version beside it", () => {
    const used = lines.filter((line) => /^ *(- )?uses: (?!\.\/)/.test(line));
    const loose = used.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line));
    expect(loose).toEqual([]);
  });
});

describe.each(WORKFLOWS)("%s", (file) => {
  const workflow = readWorkflow(file);
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap(stepsOf);

  test("gives its token no more than reading and signing in, and lets it write only where no secret is", () => {
    expect(workflow.permissions).toEqual(expect.any(Object));
    const rightsOf = (permissions: Record<string, string> = {}) =>
      Object.entries(permissions).map((one) => one.join(": "));
    const rights = [workflow, ...jobs].flatMap(({ permissions }) => rightsOf(permissions));
    const writing = ["issues: write", "pull-requests: write", "contents: write"];
    // A signature of an image is kept beside it, so what pushes it signs too.
    const pushing = file === "release.yml" ? ["packages: write"] : [];
    expect(["actions: read", "contents: read", "id-token: write", ...writing, ...pushing]).toEqual(
      expect.arrayContaining(rights),
    );
    const having = (wanted: string[]) =>
      jobs.filter(({ permissions }) => rightsOf(permissions).some((one) => wanted.includes(one)));
    expect(JSON.stringify(having(writing))).not.toMatch(/\$\{\{ secrets\.|id-token/);
    expect(JSON.stringify(having(pushing))).not.toContain("${{ secrets.");
  });

  test("reads secrets only in a job with an environment, which limits who gets them", () => {
    const open = jobs.filter((job) => job.environment === undefined && job.uses === undefined);
    expect(JSON.stringify(open)).not.toContain("${{ secrets.");
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
    const setups = jobs.filter(({ steps: own = [] }) => own.some((step) => step.with?.["organization"]));
    expect(setups.map(({ permissions }) => permissions?.["id-token"])).toEqual(setups.map(() => "write"));
    expect(file === "check.yml" || !/setup-go|npm run engine/.test(text)).toBe(true);
  });

  test("runs what the repository has", () => {
    const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    const unknown = commands.filter((command) => !isKnown(command));
    expect(unknown).toEqual([]);
  });
});

test("the templates' workflows are one, and take the actions that this repository's take", () => {
  expect(OF_TEMPLATES).toHaveLength(2);
  const [text = "", other] = OF_TEMPLATES.map((file) =>
    readFileSync(join(GITHUB, "workflows", file), "utf8"),
  );
  expect(other).toBe(text);
  const usesOf = (one: string): string[] => [...one.matchAll(/uses: ([^.].*)/g)].map(([, used = ""]) => used);
  const own = FILES.filter((file) => !file.includes("templates/")).flatMap((file) =>
    usesOf(readFileSync(join(GITHUB, file), "utf8")),
  );
  expect(own).toEqual(expect.arrayContaining(usesOf(text)));
  const setup = readFileSync(join(GITHUB, "actions/setup/action.yml"), "utf8");
  const [, version] = /pulumi-version: (\S+)/.exec(setup) ?? [];
  expect(text).toContain(`pulumi-version: ${version}\n`);
});

describe("check.yml", () => {
  test("has a cache for each part", () => {
    const { check } = readWorkflow("check.yml").jobs;
    const caches = stepsOf(check ?? {}).filter(({ uses = "" }) => uses.startsWith("actions/cache@"));
    expect(caches.map((step) => step.with?.["key"])).toEqual([expect.stringContaining("${{ matrix.part }}")]);
    const go = stepsOf(check ?? {}).filter(({ uses = "" }) => uses.startsWith("actions/setup-go@"));
    expect(go.map((step) => step.with?.["cache"])).toEqual([false]);
  });
});

describe("rollout.yml", () => {
  const { on, jobs } = readWorkflow("rollout.yml");

  test("begins after check.yml or by hand, and never on a push", () => {
    expect(Object.keys(on).sort()).toEqual(["workflow_dispatch", "workflow_run"]);
    expect(on["workflow_run"]).toEqual({ workflows: ["check"], types: ["completed"], branches: ["main"] });
  });

  test("deploys the one commit whose check was looked up", () => {
    const rollouts = Object.values(jobs).filter(
      ({ uses }) => uses === "./.github/workflows/rollout-stack.yml",
    );
    expect(rollouts).toHaveLength(3);
    for (const job of rollouts) {
      expect(neededBy(job)).toContain("checked");
      expect(job.with?.["commit"]).toBe("${{ needs.checked.outputs.commit }}");
    }
    const called = Object.values(readWorkflow("rollout-stack.yml").jobs).flatMap(stepsOf);
    const checkouts = called.filter(({ uses = "" }) => uses.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with?.["ref"])).toEqual(["${{ inputs.commit }}"]);
  });
});

describe("release.yml", () => {
  const { on, jobs } = readWorkflow("release.yml");

  test("begins with the tag that the release asks for, and not with the one that it makes", () => {
    expect(on).toEqual({ push: { tags: [sourceTag("*")] } });
    expect(builtTag("1.0.0").startsWith(sourceTag(""))).toBe(false);
  });

  test("publishes after the check of that commit and the tests of what was built, and keeps no secret", () => {
    const before = Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, neededBy(job)]));
    expect(before).toEqual({
      checked: [],
      build: ["checked"],
      image: ["build"],
      publish: ["image"],
      announce: ["publish"],
    });
    expect(JSON.stringify(jobs)).not.toContain("${{ secrets.");
  });

  test("runs every step of a release once, in their order", () => {
    const named = Object.values(jobs)
      .flatMap(stepsOf)
      .flatMap(({ run = "" }) => /^npm run release -- (.+)$/.exec(run)?.[1]?.split(" ") ?? []);
    const source = readFileSync("scripts/release/main.ts", "utf8");
    const [, table = ""] = /const STEPS[^{]+\{(.+?)^\};/ms.exec(source) ?? [];
    expect(named).toEqual([...table.matchAll(/^ {2}"?([a-z-]+)"?: \{/gm)].map(([, name]) => name));
  });

  test("signs with the cosign that the tests run", () => {
    const module = readFileSync("test/release/cosign/go.mod", "utf8");
    const [, version] = /github\.com\/sigstore\/cosign\/v3 (v\S+)/.exec(module) ?? [];
    const installs = stepsOf(jobs["publish"] ?? {}).filter(({ uses = "" }) => uses.includes("cosign"));
    expect(installs.map((step) => step.with)).toEqual([{ "cosign-release": version }]);
  });
});

describe("nightly.yml", () => {
  const { report } = readWorkflow("nightly.yml").jobs;

  test.each([
    ["success", "success", false],
    ["success", "failure", true],
    ["success", "cancelled", true],
    ["failure", "skipped", true],
    ["skipped", "skipped", false],
  ])("reports where the limit ended in %s and the look in %s: %s", (limited, look, reports) => {
    const needs = { limited: { result: limited }, look: { result: look } };
    expect(evaluate(report?.if ?? "", { needs })).toBe(reports);
  });
});

test("Pulumi's CLI has the version that the tests run", () => {
  const setup = parse(readFileSync(join(GITHUB, "actions/setup/action.yml"), "utf8")) as {
    runs: { steps: { uses?: string; with?: Record<string, string> }[] };
  };
  const installs = setup.runs.steps.filter(({ uses = "" }) => uses.startsWith("pulumi/actions@"));
  const required = readFileSync(join(ENGINE_MODULE, "go.mod"), "utf8");
  const [, version] = /pulumi\/pkg\/v3 v(\S+)/.exec(required) ?? [];
  expect(installs.map((step) => step.with)).toEqual([{ "pulumi-version": version }]);
});

test("Dependabot updates every folder that pins something", () => {
  const { updates } = parse(readFileSync(join(GITHUB, "dependabot.yml"), "utf8")) as {
    updates: { "package-ecosystem": string; directory?: string; directories?: string[] }[];
  };
  const folders = (ecosystem: string) =>
    updates
      .filter((one) => one["package-ecosystem"] === ecosystem)
      .flatMap(({ directory = [], directories = [] }) => [directory, directories].flat())
      .sort();
  // The oldest engine that is supported stays as old as it is, and so do the hosts that later versions no longer serve as
  // modules. The Go program of a test takes what the package's SDK takes.
  const kept = /\/(?:oldest|languages\/sdk|programs\/go)$/;
  const modules = globSync("{rehearsal,scripts,test}/**/go.mod")
    .map((file) => `/${dirname(file)}`)
    .filter((folder) => !kept.test(folder));
  expect(folders("gomod")).toEqual(modules.sort());
  const actions = globSync(".github/actions/*/action.yml").map((file) => `/${dirname(file)}`);
  expect(folders("github-actions")).toEqual(["/", ...actions].sort());
  const locks = globSync("{rehearsal,test}/**/package-lock.json").map((file) => `/${dirname(file)}`);
  expect(folders("npm")).toEqual(["/", ...locks].sort());
  // A Dockerfile that named an image would need an entry.
  const images = globSync("{infra,rehearsal}/**/*Dockerfile").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^FROM (.+)$/gm)].map(([, image = ""]) => image),
  );
  expect(images.filter((image) => image !== "scratch" && !image.startsWith("${"))).toEqual([]);
});

function isKnown(command: string): boolean {
  const script = /^npm run ([\w:]+)( |$)/.exec(command)?.[1];
  if (script !== undefined) return script in packageJson.scripts;
  if (command.startsWith(".ci/")) return isExecutable(command);
  if (command.includes('=$(gh api "repos/$GH_REPO/')) return true;
  const [, ofPackage] = /^npx steward-deploy ([\w-]+) /.exec(command) ?? [];
  if (ofPackage !== undefined) return existsSync(`stacks/commands/${ofPackage}.ts`);
  // test/workflows/upgrade.process.test.ts runs this one.
  if (command.includes('gh pr create --head "$BRANCH"')) return true;
  return command === "npm ci" || command.startsWith("gh pr comment ");
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
