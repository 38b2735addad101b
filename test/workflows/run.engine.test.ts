import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LocalWorkspace, type ConfigMap, type Stack } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { runProcess } from "../../infra/shell/process.ts";
import type { LoopbackServer } from "../../rehearsal/loopback.ts";
import { engineCommand, fileBackend } from "../../rehearsal/engine/index.ts";
import { ACCOUNT } from "../rehearsal/support.ts";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, testEngine, UPDATE_MS } from "../support/stack.ts";
import { type SecretsProvider, vaultSecrets } from "../support/vault.ts";
import { startWorkerOrigin } from "../support/worker-origin.ts";
import { workflowFiles } from "./read.ts";
import { LocalRunner } from "./runner.ts";

const DIGEST = `registry.example.com/steward@sha256:${"1".repeat(64)}`;
const V1 = { tag: "v1", newSqliteClasses: ["Sandbox"] };
const V2 = { tag: "v2", newSqliteClasses: ["Another"] };
const PULL_REQUEST = { number: 7, head: { repo: { full_name: "example/steward" } } };
const OWN = { github: { repository: "example/steward", event: { pull_request: PULL_REQUEST } } };
const COMMIT = "c0ffee".repeat(7).slice(0, 40);
const MAIN = { repository: "example/steward", ref: "refs/heads/main", sha: COMMIT };
/** A run of rollout.yml after check.yml has ended, as GitHub describes it. */
const afterCheck = (changed: Record<string, string> = {}) => {
  const run = { event: "push", conclusion: "success", head_sha: COMMIT, ...changed };
  return { github: { ...MAIN, event_name: "workflow_run", event: { workflow_run: run } } };
};
const byButton = (changed: Record<string, string> = {}) => ({
  github: { ...MAIN, event_name: "workflow_dispatch", event: {}, ...changed },
});
const RUN_MS = UPDATE_MS * 4;

/** What GitHub would run, on this machine against the emulated account. */
describe("the workflows, step by step", () => {
  let world: ServerlessStage;
  let secrets: SecretsProvider;
  let checkout: Checkout;
  let runner: LocalRunner;
  let backend: string;
  const stacks: Record<string, Stack> = {};
  const origins: LoopbackServer[] = [];
  const ran = new Set<string>();

  beforeAll(async () => {
    const { container } = await buildBundle();
    const command = [process.execPath, join(container.dir, "supervisor/main.js")];
    world = await startServerlessStage({
      containers: (dir) => ({ kind: "process", supervise: { command, dir: join(dir, "containers") } }),
    });
    secrets = await vaultSecrets();
    checkout = await copyCheckout();
    backend = fileBackend(join(checkout.root, "state"));
    await mkdir(join(checkout.root, "state"));
    // Only that of the stack where the image was built names one: the others have it by promotion.
    stacks["dev"] = await createStack("dev", { "steward:image": { value: DIGEST } });
    stacks["staging"] = await createStack("staging", { "steward:registry": { value: "127.0.0.1:9" } });
    stacks["prod"] = await createStack("prod", {
      "steward:registry": { value: "127.0.0.1:9" },
      "steward:protectState": { value: "true" },
    });
    runner = await LocalRunner.start({
      root: checkout.root,
      vars: { PULUMI_BACKEND_URL: backend },
      secrets: { PULUMI_CONFIG_PASSPHRASE: "" },
      environment: await withGitHub({ ...(await testEngine()).env, ...secrets.variables }),
    });
  }, ENGINE_MS);

  afterAll(async () => {
    await runner?.close();
    await checkout?.close();
    for (const origin of origins) await origin.close();
    await world?.close();
  }, UPDATE_MS);

  /**
   * Adds a `gh` that stands in for GitHub's. It answers `gh api` as the real one does behind its `--jq`: with a count of
   * an environment's rules (https://docs.github.com/rest/deployments/environments#get-an-environment), and of the runs of
   * check.yml for a commit (https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-workflow). It
   * keeps one issue, and a line of each change of issues. It models nothing else.
   */
  async function withGitHub(environment: Record<string, string>): Promise<Record<string, string>> {
    const bin = join(checkout.root, "github-bin");
    await mkdir(bin);
    const script = `#!/bin/sh
cd "${bin}"
case "$1 $2" in
  "api "*/environments/*) cat "\${2##*/}" ;;
  "api "*"/workflows/check.yml/runs?head_sha=${COMMIT}&branch=main&event=push&status=success") echo 1 ;;
  "api "*/workflows/check.yml/runs*) echo 0 ;;
  "issue list") cat issue 2>/dev/null || true ;;
  "issue create") echo 12 >issue; echo "$*" >>changes ;;
  "issue comment" | "label create") echo "$*" >>changes ;;
  *) echo "unknown to this gh: $*" >&2; exit 1 ;;
esac
`;
    await writeFile(join(bin, "gh"), script, { mode: 0o755 });
    await setRules("preview", 1);
    await setRules("nightly", 1);
    return { ...environment, PATH: `${bin}:${environment["PATH"]}` };
  }

  /** How many rules of the kind that is asked for an environment has. */
  function setRules(name: "preview" | "nightly", count: number): Promise<void> {
    return writeFile(join(checkout.root, "github-bin", name), `${count}\n`);
  }

  async function issueChanges(): Promise<string[]> {
    const text = await readFile(join(checkout.root, "github-bin/changes"), "utf8");
    return text.split("\n").filter((line) => /^(?:issue|label) /.test(line));
  }

  async function createStack(name: string, more: ConfigMap): Promise<Stack> {
    const engine = await testEngine();
    await rm(join(checkout.root, `stacks/Pulumi.${name}.yaml`), { force: true });
    const stack = await LocalWorkspace.createStack(
      { stackName: name, workDir: checkout.root },
      {
        pulumiCommand: await engineCommand(engine),
        envVars: { ...engine.env, PULUMI_BACKEND_URL: backend, ...secrets.variables },
        secretsProvider: secrets.url,
      },
    );
    const origin = await startWorkerOrigin(world.front, `${name}.example.workers.dev`);
    origins.push(origin);
    await stack.setAllConfig({
      ...world.config(),
      "steward:workerName": { value: name },
      "steward:origin": { value: origin.url },
      ...more,
    });
    return stack;
  }

  function start(file: string, given: Record<string, unknown> = {}) {
    ran.add(file);
    return runner.run(file, given);
  }

  /** As an operator does before there is a pipeline. */
  async function deployDev(): Promise<void> {
    const words = [join(checkout.root, "stacks/commands/rollout.ts"), "dev", "--yes"];
    const done = await runProcess(process.execPath, words, {
      cwd: checkout.root,
      env: {
        ...process.env,
        ...(await testEngine()).env,
        PULUMI_BACKEND_URL: backend,
        ...secrets.variables,
      },
    });
    expect(done.code, done.stderr).toBe(0);
  }

  async function imageOf(name: string): Promise<unknown> {
    return (await stacks[name]?.outputs())?.["image"]?.value;
  }

  test(
    "preview.yml writes what the comment says, and gives a fork nothing",
    async () => {
      const { preview, comment } = await start("preview.yml", OWN);
      expect(preview?.result, preview?.ran.at(-1)?.said).toBe("success");
      expect(comment?.result).toBe("success");
      const text = await runner.artifact("preview", "preview.md");
      expect(text).toMatch(/^### Preview of `dev`\n\nChanges: \d+ to create\.\n/);
      expect(text).toContain("| create | `cloudflare:index/worker:Worker` | `steward-worker` |");
      expect(text).not.toContain("sk-test");

      const fork = { ...PULL_REQUEST, head: { repo: { full_name: "stranger/steward" } } };
      const strange = await start("preview.yml", {
        github: { ...OWN.github, event: { pull_request: fork } },
      });
      expect(strange["preview"]?.result).toBe("skipped");

      await setRules("preview", 0);
      const unread = await start("preview.yml", OWN);
      await setRules("preview", 1);
      expect(unread["reviewed"]?.ran[0]?.said).toContain("PREVIEW_UNREVIEWED");
      expect(unread["preview"]?.result).toBe("skipped");
      expect(strange["comment"]?.result).toBe("skipped");
    },
    RUN_MS,
  );

  test(
    "preview.yml is red where a policy is broken, and the comment says which",
    async () => {
      await stacks["prod"]?.setConfig("steward:sleepAfter", { value: "never" });
      const { preview, comment } = await start("preview.yml", { ...OWN, vars: { PREVIEW_STACK: "prod" } });
      expect(preview?.ran.at(-1)?.code, preview?.ran.at(-1)?.said).toBe(3);
      expect(preview?.result).toBe("failure");
      expect(comment?.result).toBe("success");
      const text = await runner.artifact("preview", "preview.md");
      expect(text).toContain("**Broken policies**\n\n- `never-with-reason: ");
      await stacks["prod"]?.removeConfig("steward:sleepAfter");
    },
    RUN_MS,
  );

  test("rollout.yml deploys no commit that check.yml has not passed on main", async () => {
    for (const other of [{ conclusion: "failure" }, { conclusion: "cancelled" }, { event: "pull_request" }]) {
      const { checked, dev } = await start("rollout.yml", afterCheck(other));
      expect([checked?.result, dev?.result]).toEqual(["skipped", "skipped"]);
    }
    for (const [github, said] of [
      [afterCheck({ head_sha: "d".repeat(40) }), "check.yml has not passed for dddd"],
      [byButton({ sha: "d".repeat(40) }), "check.yml has not passed for dddd"],
      [byButton({ ref: "refs/heads/another" }), "Only main is deployed, and this is refs/heads/another."],
    ] as const) {
      const { checked, dev, staging, prod } = await start("rollout.yml", github);
      expect(checked?.result).toBe("failure");
      expect(checked?.ran.at(-1)?.said).toContain(said);
      expect([dev, staging, prod].map((job) => job?.result)).toEqual(["skipped", "skipped", "skipped"]);
    }
  });

  test(
    "rollout.yml waits at a migration without failing, and goes no further",
    async () => {
      await deployDev();
      await stacks["dev"]?.setConfig("steward:migrations", { value: JSON.stringify([V1, V2]) });
      const waiting = await start("rollout.yml", afterCheck());
      expect(waiting["dev"]?.ran.at(-1)?.said).toContain("To accept it, add --accept-migration v2");
      expect(waiting["dev"]).toMatchObject({ result: "success", outputs: { outcome: "waits" } });
      expect(waiting["staging"]?.result).toBe("skipped");
      expect(waiting["prod"]?.result).toBe("skipped");
    },
    RUN_MS,
  );

  test(
    "rollout.yml deploys what is accepted to dev, and what was probed there to staging and to prod",
    async () => {
      const jobs = await start("rollout.yml", { ...byButton(), inputs: { "accept-migration": "v2" } });
      for (const name of ["dev", "staging", "prod"]) {
        expect(jobs[name]?.outputs, jobs[name]?.ran.at(-1)?.said).toEqual({ outcome: "deployed" });
        expect(await imageOf(name)).toBe(DIGEST);
      }
      expect(jobs["dev"]?.ran.at(-1)?.said).toContain("Made the backup ");
      expect(jobs["prod"]?.ran.at(-1)?.said).toContain("Promoting from staging: bundle ");
      ran.add("rollout-stack.yml");
    },
    RUN_MS,
  );

  test(
    "rollout.yml fails where a rollout has not begun, and goes no further",
    async () => {
      await stacks["dev"]?.setConfig("steward:sleepAfter", { value: "soon" });
      const { dev, staging } = await start("rollout.yml", afterCheck());
      expect(dev).toMatchObject({ result: "failure", outputs: { outcome: "not-begun" } });
      expect(dev?.ran.at(-1)).toMatchObject({
        code: 1,
        said: expect.stringContaining("stack_config_invalid"),
      });
      expect(staging?.result).toBe("skipped");
      await stacks["dev"]?.removeConfig("steward:sleepAfter");
    },
    RUN_MS,
  );

  test(
    "nightly.yml is green if nothing has drifted and the newest backup is whole; else it is red, and opens one issue",
    async () => {
      const { applications } = world.stage.client.containers;
      const { result } = await applications.list({ account_id: ACCOUNT });
      const prod = result.find(({ name }) => name === "prod-sandbox");
      await applications.edit(String(prod?.id), { account_id: ACCOUNT, max_instances: 5 });

      const jobs = await start("nightly.yml", { github: MAIN });
      const codes = (name: string) =>
        jobs[`look ${name}`]?.ran.filter(({ command }) => command.includes("$STACK")).map(({ code }) => code);
      // The update with the migration made a backup before.
      expect(codes("dev"), jobs["look dev"]?.ran.at(-1)?.said).toEqual([0, 0]);
      expect(jobs["look dev"]?.result).toBe("success");
      expect(jobs["look dev"]?.ran.at(-1)?.said).toMatch(/\d{8}-\d{8} is complete\./);
      expect(codes("staging")).toEqual([0, 2]);
      expect(jobs["look staging"]?.ran.at(-1)?.said).toContain("There is no backup.");
      expect(codes("prod")).toEqual([2, 2]);
      expect(jobs["look prod"]?.result).toBe("failure");
      // The issue of a failed night; another night adds to it.
      expect(jobs["report"]?.result, jobs["report"]?.ran.at(-1)?.said).toBe("success");
      expect(await issueChanges()).toEqual([
        expect.stringContaining("label create nightly-failed"),
        expect.stringContaining("issue create --title The nightly check of the stacks failed"),
      ]);
      await setRules("nightly", 0);
      const open = await start("nightly.yml", { github: MAIN });
      await setRules("nightly", 1);
      expect(open["limited"]?.ran[0]?.said).toContain("Any branch can read the secrets");
      expect([open["look dev"]?.result, open["report"]?.result]).toEqual(["skipped", "success"]);
      expect((await issueChanges()).at(-1)).toContain("issue comment 12");
      const { limited, report } = await start("nightly.yml", {
        github: { ...MAIN, ref: "refs/heads/another" },
      });
      expect([limited?.result, report?.result]).toEqual(["skipped", "skipped"]);
    },
    RUN_MS,
  );

  test("were all run, but for what has no place here", async () => {
    await start("check.yml", { github: { ref: "main" } });
    // release.yml is run by test/release/workflow.engine.test.ts.
    expect([...ran, "release.yml"].sort()).toEqual(workflowFiles());
    const leftOut = [...new Set(runner.leftOut)].sort();
    process.stdout.write(`${leftOut.join("\n")}\n`);
    expect(leftOut).toContain("left out: .ci/run (it runs this test)");
    // What the repository has is all run.
    expect(leftOut.filter((line) => line.startsWith("left out: npm run"))).toEqual([]);
  });
});
