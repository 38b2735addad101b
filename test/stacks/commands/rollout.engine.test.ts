import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withFileLock } from "../../../infra/shell/cache.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import { fixOf } from "../../../runtime/contract/errors.ts";
import { fixFor, stackShell, succeed, type, typeFix, waysOf, type Shell } from "../../journeys/typed.ts";
import { ACCOUNT, SCRIPT } from "../../rehearsal/support.ts";
import { startRolloutStage, type RolloutStage } from "../../support/rollout-stage.ts";
import type { ServerlessStage } from "../../support/serverless-stack.ts";
import { stackCommand, startTerminalCommand, terminalCommand } from "../../support/stack-command.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const V1 = { tag: "v1", newSqliteClasses: ["Sandbox"] };
const V2 = { tag: "v2", newSqliteClasses: ["Another"] };

let stage: RolloutStage;
let world: ServerlessStage;
let subject: TestStack;
let shell: Shell;

beforeAll(async () => {
  stage = await startRolloutStage();
  ({ world, subject } = stage);
  shell = await stackShell(subject, "rollout");
}, ENGINE_MS);

afterAll(() => stage?.close(), UPDATE_MS);

/** The secrets with which the Worker runs. */
async function attestation(): Promise<unknown> {
  const answer = await fetch(`${world.front.url}/readyz`);
  const body = (await answer.json().catch(() => ({}))) as { attestation?: unknown };
  return body.attestation;
}

const rollout = (...words: string[]) => stackCommand(subject, "rollout.ts", "test", "--json", ...words);

const setSecret = (value: string) =>
  subject.stack.setConfig("steward:slackSigningSecret", { value, secret: true });

const steps = async () => (await stage.record()).map(({ step }) => step);

async function workers(): Promise<number> {
  const { result } = await world.stage.client.workers.beta.workers.list({ account_id: ACCOUNT });
  return result.length;
}

test(
  "plans alone, and without a yes it waits",
  async () => {
    const planned = await rollout("--plan-only");
    expect(planned.report, planned.said).toMatchObject({ ok: true, broken: [], gates: [] });
    const { create } = (await subject.stack.preview()).changeSummary;
    expect(planned.said).toContain(`Changes: ${create} to create.`);
    expect(planned.said).not.toContain("pulumi:providers");
    expect(planned.code).toBe(0);

    const waiting = await rollout();
    expect(waiting.stderr).toMatch(
      /^cannot ask for confirmation without a terminal \(rollout_unconfirmed\)\n {2}fix: .*--yes/m,
    );
    expect(waiting.report).toMatchObject({ ok: false, exit: 2, code: "rollout_unconfirmed" });
    expect(waiting.code).toBe(2);
    expect(await workers()).toBe(0);
  },
  UPDATE_MS,
);

test.each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
  ["another word than yes", "y\r"],
])(
  "a question that is left by %s changes nothing, and says so with a code",
  async (_name, keys) => {
    const asked = startTerminalCommand(subject, "rollout.ts", "test");
    await asked.says("Roll out? Type yes to start: ");
    asked.child.stdin.write(keys);
    const { code, said } = await asked.ended;
    expect(said).toMatch(
      /the rollout was not confirmed, so nothing was changed \(rollout_unconfirmed\)\r?\n {2}fix: /,
    );
    expect(said).not.toMatch(/^\s+at \S/m);
    expect(said).not.toContain("AbortError");
    expect(code).toBe(2);
    expect(await workers()).toBe(0);
    expect(await steps()).toEqual(["begun", "planned", "ended"]);
  },
  UPDATE_MS,
);

test(
  "deploys, records its steps, and has nothing to do the second time",
  async () => {
    const first = await rollout("--yes");
    expect(first.code, first.said).toBe(0);
    expect(await steps()).toEqual(["begun", "planned", "backup", "former", "updating", "updated", "ended"]);
    expect(await stage.record()).toContainEqual(
      expect.objectContaining({ step: "backup", skipped: expect.any(String) }),
    );
    const report = await readFile(path.join(subject.folder, String(first.report["report"])), "utf8");
    expect(report).toMatch(/^# Rollout of test, 2/);
    expect(report).toMatch(/\| \d+\.\d s \| the new version answers \|/);
    expect(report).toContain(
      "- create steward-worker-current (cloudflare:index/workerVersion:WorkerVersion)",
    );
    expect(report).not.toContain("in progress");
    expect(await attestation()).toEqual(expect.any(String));

    const second = await rollout("--yes");
    expect(second.said).toContain("No changes.");
    expect(second.code).toBe(0);
    expect(await steps()).toEqual(["begun", "planned", "ended"]);
  },
  UPDATE_MS,
);

test(
  "the stack's own backups are made, listed and checked by a signature that only it can make",
  async () => {
    const backup = (...words: string[]) => stackCommand(subject, "backup.ts", "test", "--json", ...words);
    const none = await backup("--verify");
    expect(none.report, none.said).toMatchObject({ ok: false, backups: [] });
    expect(none.said).toContain("There is no backup.");
    expect(none.code).toBe(2);

    const made = await backup("--create", "--verify");
    expect(made.report, made.said).toMatchObject({
      ok: true,
      problems: [],
      backups: [{ id: expect.any(String) }],
    });
    expect(made.said).toMatch(/Made \d{8}-\d{8}\.[^]*\d{8}-\d{8} is complete\./);
    expect(made.code).toBe(0);

    const unsigned = await fetch(`${world.front.url}/stack/backups`);
    const { code, fix } = (await unsigned.json()) as { code: string; fix: string };
    expect(code).toBe("stack_signature_invalid");
    const listed = await typeFix(shell, fix, (line) => line.replace("<stack>", "test"));
    expect(listed.said).toMatch(/^\d{8}-\d{8} /m);

    // Somebody who has read the request sends it once more.
    const again = await fetch(stage.signedRequest() ?? "");
    const used = (await again.json()) as { code: string; fix: string };
    expect(used.code).toBe("stack_signature_used");
    const anew = await typeFix(shell, used.fix, (line) => line.replace("<stack>", "test"));
    // The container may have backed itself up since.
    const linesOf = ({ said }: { said: string }) => said.split("\n");
    expect(linesOf(anew)).toEqual(expect.arrayContaining(linesOf(listed)));
  },
  UPDATE_MS,
);

test(
  "where nothing answers at its address, the printed command says whether the service is still there",
  async () => {
    stage.cut(true);
    const failed = await type(shell, "npm run backup -- test");
    expect(failed.code, failed.said).toBe(1);
    expect((await typeFix(shell, fixFor("service_unreachable", failed.said))).said).toContain("No drift.");
    stage.cut(false);
    await succeed(shell, "npm run backup -- test");
  },
  UPDATE_MS,
);

test(
  "where the version before still answers, the update fails, and the printed commands lead on",
  async () => {
    await stage.change("warning");
    stage.spoil(async () => Response.json({ bundle: "before" }));
    const impatient = { ...shell, environment: { ...shell.environment, PROBE_TIMEOUT_MS: "2000" } };
    const failed = await type(impatient, "pulumi up -s test");
    stage.spoil(undefined);
    expect(failed.code, failed.said).not.toBe(0);
    expect(failed.said).toContain("bundle before, expected ");
    expect(failed.said).toContain(fixOf("deployment_stale", commandsFor("test")));
    const [[again = "", compare = ""] = []] = waysOf(failed.said);
    expect([again, compare]).toEqual(["pulumi up -s test", "pulumi stack output -s test"]);
    await succeed(shell, again);
    const { url } = await subject.stack.outputs();
    expect((await succeed(shell, compare)).said).toMatch(new RegExp(`^ +url +${url?.value}$`, "m"));
  },
  UPDATE_MS,
);

test(
  "after a rollback by hand it says what serves, waits if that cannot be backed up, and deploys its own again",
  async () => {
    const [own] = await stage.deployments();
    const oldest = world.stage.cloudflare.account.state.versions[0]?.id ?? "";
    await world.stage.client.workers.scripts.deployments.create(SCRIPT, {
      account_id: ACCOUNT,
      strategy: "percentage",
      versions: [{ version_id: oldest, percentage: 100 }],
    });
    const waiting = await rollout("--yes");
    expect(waiting.said).toContain(
      `The live version is not the one that this stack deployed: live is ${oldest} at 100 %`,
    );
    expect(waiting.said).toContain("To continue without a backup, add --without-backup");
    expect(waiting.code).toBe(2);
    // As the engine counts.
    expect(waiting.said).toContain("Changes: 1 to update, 1 to replace.");
    expect((await subject.stack.preview()).changeSummary).toMatchObject({ update: 1, replace: 1 });

    const mended = await rollout("--yes", "--without-backup");
    expect(mended.code, mended.said).toBe(0);
    expect((await stage.deployments())[0]).toEqual(own);
    expect((await rollout("--yes")).said).toContain("No changes.");
  },
  UPDATE_MS * 2,
);

test(
  "makes a backup before it changes what runs, and waits where none can be made",
  async () => {
    const former = await stage.deployments();
    await setSecret("a-second-signing-secret-of-slack-0");
    // The running version is busy at first.
    let late = 2;
    stage.spoil(async () => (late-- > 0 ? new Response("busy", { status: 503 }) : undefined));
    const updated = await rollout("--yes");
    stage.spoil(undefined);
    expect(updated.code, updated.said).toBe(0);
    expect(await stage.record()).toContainEqual(
      expect.objectContaining({ step: "backup", made: expect.stringMatching(/^\d{8}-\d{8}$/) }),
    );
    const now = await stage.deployments();
    expect(now).not.toEqual(former);

    await setSecret("another-signing-secret-of-slack-01");
    stage.refuse("/stack/backups/create", "backup_failed");
    const waiting = await rollout("--yes");
    expect(waiting.said).toContain("The backup before the update failed (backup_failed)");
    expect(waiting.said).toContain("To continue without a backup, add --without-backup");
    expect(waiting.code).toBe(2);
    expect(await stage.deployments()).toEqual(now);
  },
  UPDATE_MS,
);

test(
  "a permission that is lost amid an update is named with its fix, and what ran before answers",
  async () => {
    const former = await stage.deployments();
    await setSecret("a-signing-secret-that-is-refused-1");
    const fault = {
      method: "POST",
      path: /^\/workers\/workers\/[^/]+\/versions$/,
      times: 3,
      outcome: 403 as const,
    };
    world.stage.cloudflare.faults.requests.push(fault);
    const refused = await rollout("--yes", "--without-backup");
    world.stage.cloudflare.faults.requests.length = 0;
    expect(fault.times, refused.said).toBeLessThan(3);
    expect(refused.report, refused.said).toMatchObject({
      ok: false,
      exit: 4,
      code: "token_permission_missing",
      cause: expect.stringContaining("403: Authentication error (10000)"),
      fix: expect.stringContaining("pulumi config set -s test --secret cloudflare:apiToken <token>"),
    });
    expect(refused.stderr.match(/^ *fix: /gm), refused.said).toHaveLength(1);
    expect(refused.said).toContain("(token_permission_missing)");
    expect(refused.said).not.toContain('"success"');
    expect(refused.said).not.toMatch(/^\s+at \S/m);
    expect(refused.code).toBe(4);
    expect((await stage.deployments())[0]).toEqual(former[0]);
    const text = await readFile(path.join(subject.folder, String(refused.report["report"])), "utf8");
    expect(text).toContain("fix: Give the token the permissions");
  },
  UPDATE_MS,
);

test(
  "stops before a migration that nobody has accepted",
  async () => {
    await subject.stack.setConfig("steward:migrations", { value: JSON.stringify([V1, V2]) });
    const stopped = await rollout("--yes");
    expect(stopped.said).toContain(
      "The migration v2 will be applied. To accept it, add --accept-migration v2",
    );
    expect(stopped.code).toBe(2);

    const words = ["test", "--yes", "--accept-migration", "v2", "--without-backup"];
    const accepted = await terminalCommand(subject, "rollout.ts", ...words);
    expect(accepted.code, accepted.said).toBe(0);
    // At a terminal: bars that are drawn anew in their line, what is planned, and none of the engine's lines.
    const drawn = accepted.said.replaceAll("\r\u001B[2K", "\n");
    expect(drawn).toMatch(/\nPreviewing {2}\d+ resources {2}\w+ /);
    expect(drawn).toMatch(/\nUpdating {2}█+░* \d+ of \d+ {2}\w+ /);
    expect(accepted.said).toContain("update steward-worker-migrate (steward:serverless:Migrations)");
    expect(accepted.said).not.toContain("Updating (test)");
  },
  UPDATE_MS * 2,
);

test(
  "refuses to begin while another one is under way",
  async () => {
    const lock = path.join(subject.folder, ".steward/rollouts/test/lock");
    const { code, report } = await withFileLock(lock, () => rollout("--yes"));
    expect(report).toMatchObject({ ok: false, code: "rollout_under_way" });
    expect(code).toBe(1);
  },
  UPDATE_MS,
);

test(
  "refuses to begin while somebody else's update holds the backend, and leaves it its lock",
  async () => {
    const locks = path.join(subject.folder, "state/.pulumi/locks/organization/steward/test");
    const lock = path.join(locks, "another.json");
    await mkdir(locks, { recursive: true });
    await setSecret("a-third-signing-secret-of-slack-01");
    await writeFile(
      lock,
      '{"pid":1,"username":"op","hostname":"elsewhere","timestamp":"2026-01-31T09:30:00Z"}',
    );
    const { code, report, said } = await rollout("--yes", "--without-backup");
    expect(report, said).toMatchObject({ ok: false, code: "rollout_under_way" });
    expect(code).toBe(1);
    expect(await readdir(locks)).toEqual(["another.json"]);
  },
  UPDATE_MS,
);
