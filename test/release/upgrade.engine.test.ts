import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import semver from "semver";
import { afterAll, beforeAll, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { ROUTES } from "../../runtime/contract/routes.ts";
import { fixFor, succeed, type, type Typed, typeFix } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { type AnsweringStage, startAnsweringStage } from "../support/answering-stage.ts";
import { MODEL_KEY, SIGNING_SECRET } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { emptyProject, type Project } from "./project.ts";
import { type PublishedVersions, publishVersions } from "./published.ts";

const { version: A } = packageJson;
const B = semver.inc(A, "patch") ?? "";
const SILENT = semver.inc(B, "patch") ?? "";
const UNINSTALLABLE = semver.inc(SILENT, "patch") ?? "";
const MINOR = semver.inc(A, "minor") ?? "";
const UPGRADE = "npx steward-deploy upgrade dev";

let stage: AnsweringStage;
let project: Project;
let versions: PublishedVersions;

beforeAll(async () => {
  stage = await startAnsweringStage();
  project = await emptyProject("from-a-to-b");
  await project.begin("serverless");
  project.shell.environment["TMPDIR"] = inProject("../tmp");
  await mkdir(inProject("../tmp"));
  versions = await publishVersions(project);
  await versions.publish(B, {}, "latest");
  await versions.publish(SILENT, { worker: withoutReadiness });
  await versions.publishEmpty(UNINSTALLABLE, { "steward-gateway-part": "1.0.0" });
  await versions.publishEmpty(MINOR, {});
  const { "steward:origin": origin } = stage.world.config();
  await project.configure(
    {
      "steward:target": "serverless",
      "steward:accountId": ACCOUNT,
      "steward:subdomain": "acme",
      "steward:origin": origin?.value ?? "",
      "steward:endpoints": stage.endpoints,
      "cloudflare:baseUrl": stage.world.stage.cloudflare.url,
    },
    {
      "cloudflare:apiToken": TOKEN,
      "steward:anthropicApiKey": MODEL_KEY,
      "steward:slackBotToken": "xoxb-test-0123456789",
      "steward:slackSigningSecret": SIGNING_SECRET,
    },
  );
  await project.works("pulumi up -s dev");
}, ENGINE_MS + UPDATE_MS);

afterAll(async () => {
  await stage?.close();
  await versions?.close();
  await project?.remove();
}, UPDATE_MS);

const inProject = (name: string): string => path.join(project.shell.folder, name);

/** Takes the route away that the probe asks. */
const withoutReadiness = (worker: string): string =>
  worker.replaceAll(`"${ROUTES.ready.path}"`, '"/nowhere"');

/** The package's version in a lock file. */
function lockedVersion(lock: string): string | undefined {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version: string }> };
  return packages["node_modules/steward-gateway"]?.version;
}

/** Types an upgrade with words. */
const upgrade = (words: string): Promise<Typed> => type(project.shell, `${UPGRADE} ${words}`);

/** The JSON object among what a command printed. */
function reportOf({ said }: Typed): Record<string, unknown> {
  const line = said.split("\n").find((one) => one.startsWith('{"ok"'));
  return JSON.parse(line ?? "{}") as Record<string, unknown>;
}

/** What must be the same after an upgrade that was not made. */
async function everything() {
  const files = await Promise.all(
    ["package.json", "package-lock.json", "Pulumi.dev.yaml", "node_modules/steward-gateway/package.json"].map(
      (name) => readFile(inProject(name), "utf8"),
    ),
  );
  const serves = await fetch(`${stage.world.front.url}/`, { headers: { accept: "application/json" } });
  const { version } = (await serves.json()) as { version: string };
  const { said } = await project.works("pulumi stack export -s dev");
  const left = (await readdir(inProject("../tmp"))).filter((name) => name.startsWith("steward-upgrade-"));
  return { files, version, state: said, left, former: existsSync(inProject(".steward/upgrades/dev/former")) };
}

test(
  "--check reports versions and changes, and changes nothing",
  async () => {
    expect(await stage.converse()).not.toBe("");
    const before = await everything();
    expect(before).toMatchObject({ version: A, left: [] });
    const checked = await upgrade("--check");
    expect(checked.code, checked.said).toBe(2);
    expect(checked.said).toContain(`Deployed: ${A}. Installed: ${A}. Newest: ${B}.`);
    expect(checked.said).toContain(`## ${B} - 2026-12-01\n\n- What ${B} changes.`);
    expect(checked.said).not.toContain(`What ${A} has`);
    expect(reportOf(await upgrade("--check --json"))).toEqual({
      ok: false,
      exit: 2,
      deployed: A,
      installed: A,
      target: B,
      step: "patch",
      changes: [{ name: B, date: "2026-12-01", text: `- What ${B} changes.` }],
    });
    expect(await everything()).toEqual(before);
  },
  UPDATE_MS,
);

test(
  "--propose writes the preview and both files, and changes nothing",
  async () => {
    const before = await everything();
    await succeed(project.shell, `${UPGRADE} --propose ../proposal`);
    const proposal = (name: string) => readFile(inProject(`../proposal/${name}`), "utf8");
    const text = await proposal("upgrade.md");
    expect(text).toContain(`## steward-gateway ${A} → ${B}`);
    expect(text).toContain(`- What ${B} changes.`);
    expect(text).toMatch(/Changes: \d+ to (?:update|replace|create)/);
    expect(await proposal("package.json")).toContain(`"steward-gateway": "${B}"`);
    expect(lockedVersion(await proposal("package-lock.json"))).toBe(B);
    expect(await everything()).toEqual(before);
  },
  UPDATE_MS,
);

test(
  "unattended, a patch version alone is deployed, only with consent and within the window",
  async () => {
    const before = await everything();
    const refused = await upgrade("--unattended");
    expect(refused.code, refused.said).toBe(1);
    await typeFix(project.shell, fixFor("upgrade_unattended_off", refused.said));
    expect(JSON.parse(await readFile(inProject("package.json"), "utf8"))).toMatchObject({
      steward: { upgrade: { unattended: "patch", window: "Sun 02:00-05:00 UTC" } },
    });

    const hour = new Date(Date.now() + 4 * 3_600_000).toISOString().slice(11, 13);
    await project.works(`npm pkg set steward.upgrade.window='${hour}:00-${hour}:30 UTC'`);
    const waits = await upgrade("--unattended");
    expect(waits.code, waits.said).toBe(0);
    expect(waits.said).toMatch(new RegExp(`outside the window, which opens at .+T${hour}:00:00.000Z`));

    await project.works("npm pkg set steward.upgrade.window='00:00-24:00 UTC'");
    const minor = await upgrade(`--unattended --to ${MINOR}`);
    expect(minor.code, minor.said).toBe(2);
    expect(minor.said).toContain("An unattended upgrade does not deploy a minor version");
    expect(minor.said).toContain(`What ${MINOR} changes.`);
    await writeFile(inProject("package.json"), before.files[0] ?? "");
    expect(await everything()).toEqual(before);
  },
  UPDATE_MS,
);

test(
  "a version that cannot be installed, breaks a policy or does not answer leaves all as it was",
  async () => {
    const before = await everything();
    const missing = await upgrade("--to 99.0.0 --yes");
    expect(missing.code, missing.said).toBe(1);
    const { said } = await typeFix(project.shell, fixFor("upgrade_registry", missing.said));
    expect(said).toContain(B);

    const unable = await upgrade(`--to ${UNINSTALLABLE} --yes --json`);
    expect(unable.code, unable.said).toBe(1);
    expect(reportOf(unable)).toMatchObject({ ok: false, code: "upgrade_install" });
    expect(await everything()).toEqual(before);

    await writeFile(inProject("policies.json"), '{"bucket-lifecycle": "mandatory"}');
    const broken = await upgrade(`--to ${B} --yes --config policies.json --json`);
    expect(broken.code, broken.said).toBe(3);
    expect(reportOf(broken)).toMatchObject({
      ok: false,
      plan: { broken: [expect.stringContaining("bucket-lifecycle")] },
    });
    expect(await everything()).toEqual(before);

    const silent = await type(project.shell, `PROBE_TIMEOUT_MS=6000 ${UPGRADE} --to ${SILENT} --yes --json`);
    expect(silent.code, silent.said).toBe(4);
    expect(silent.said).toContain("failed these checks");
    expect(reportOf(silent)).toMatchObject({
      ok: false,
      exit: 4,
      rollout: {
        back: [expect.stringContaining("is back at"), expect.stringContaining("previous version answers")],
      },
    });
    expect(await everything()).toEqual({ ...before, state: expect.any(String) });
    expect(await stage.converse()).not.toBe("");
  },
  UPDATE_MS * 2,
);

test(
  "an upgrade backs up, deploys, and leaves nothing to change; an older version is refused afterwards",
  async () => {
    const asked = await upgrade(`--to ${B}`);
    expect(asked.code, asked.said).toBe(2);
    const fix = fixFor("upgrade_unconfirmed", asked.said);
    expect(fix).toContain(`${UPGRADE} --to ${B} --yes`);
    const done = await typeFix(project.shell, fix);
    expect(done.said).toContain("The data of a serverless stack cannot be copied for a trial.");
    expect(done.said).toMatch(/Made the backup \S+/);
    const after = await everything();
    expect(after).toMatchObject({ version: B, left: [], former: false });
    expect(after.files[0]).toContain(`"steward-gateway": "${B}"`);
    expect(lockedVersion(after.files[1] ?? "")).toBe(B);
    expect(after.files[3]).toContain(`"version": "${B}"`);
    expect(await stage.converse()).not.toBe("");
    expect((await project.works("pulumi preview -s dev")).said).toMatch(/Resources:\n +\d+ unchanged\n/);
    expect((await project.works(`${UPGRADE} --check`)).said).toContain("There is no newer version.");

    const older = await upgrade(`--to ${A} --yes`);
    expect(older.code, older.said).toBe(1);
    const { said } = await typeFix(project.shell, fixFor("upgrade_is_downgrade", older.said));
    expect(said).toContain("There is no newer version.");
    expect(await everything()).toEqual(after);
  },
  UPDATE_MS * 2,
);
