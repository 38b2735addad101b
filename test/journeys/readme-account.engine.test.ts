import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { adapted } from "../support/example-stack.ts";
import { startAnsweringStage, type AnsweringStage } from "../support/answering-stage.ts";
import { MODEL_KEY, SIGNING_SECRET, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { filled, linesOf, openShell, succeed, type, typeAndKill, type Shell, type Typed } from "./typed.ts";

const VALUES = {
  "cloudflare:apiToken": TOKEN,
  "steward:anthropicApiKey": MODEL_KEY,
  "steward:slackBotToken": "xoxb-test-0123456789",
  "steward:slackSigningSecret": SIGNING_SECRET,
};

let stage: AnsweringStage;
let world: ServerlessStage;
let checkout: Checkout;
let shell: Shell;

beforeAll(async () => {
  stage = await startAnsweringStage();
  ({ world } = stage);
  checkout = await copyCheckout();
  shell = await openShell(checkout.root, "real-account");
}, ENGINE_MS);

afterAll(async () => {
  await checkout?.close();
  await stage?.close();
}, UPDATE_MS);

/** Edits what the chapter says, and adds the addresses of this account, which is on this machine. */
async function editSettings(): Promise<void> {
  const file = join(checkout.root, "stacks/Pulumi.dev.yaml");
  const { "steward:origin": origin } = world.config();
  const own = adapted(await readFile(file, "utf8"))
    .replace("00112233445566778899aabbccddeeff", ACCOUNT)
    .replace("acme.cloudflareaccess.com", world.identity.url);
  const rehearsed = [
    `  cloudflare:baseUrl: ${world.stage.cloudflare.url}`,
    `  steward:origin: ${origin?.value}`,
    `  steward:endpoints: '${stage.endpoints}'`,
  ];
  await writeFile(file, own.replace(/^config:$/m, ["config:", ...rehearsed].join("\n")));
}

/** Sends a message and makes a backup. Returns the keys in the bucket. */
async function makeUseOf(): Promise<string[]> {
  expect(await stage.converse()).not.toBe("");
  expect((await type(shell, "npm run backup -- dev --create")).code).toBe(0);
  return stage.keysOf("dev-steward");
}

/** Types a line that has to succeed. Returns what it printed. */
const works = async (line: string): Promise<string> => (await succeed(shell, line)).said;

/** A rollback by hand, as the dashboard does it, and an update whose process is killed. */
async function meetTrouble(): Promise<void> {
  const { versions, workers } = world.stage.cloudflare.account.state;
  const [former] = versions.filter(({ migrations }) => migrations === undefined).slice(-2);
  await world.stage.client.workers.scripts.deployments.create(workers[0]?.name ?? "", {
    account_id: ACCOUNT,
    strategy: "percentage",
    versions: [{ version_id: former?.id ?? "", percentage: 100 }],
  });
  const drift = await type(shell, "npm run --silent drift -- dev");
  expect(drift.code, drift.said).toBe(2);
  expect(drift.said).toContain("steward-worker-deployed");
  const [remedy = "false"] = /pulumi up -s dev --refresh/.exec(drift.said) ?? [];
  await works(remedy);
  expect(await stage.converse()).not.toBe("");

  await works("pulumi config set -s dev steward:logLevel warning");
  await typeAndKill(shell, "pulumi up -s dev", "steward-worker-current creating");
  const locked = await type(shell, "pulumi up -s dev");
  expect(locked.code, locked.said).not.toBe(0);
  await works("pulumi cancel -s dev");
  await works("pulumi up -s dev");
  expect(await works("npm run --silent drift -- dev")).toContain("No drift.");
  expect(await stage.converse()).not.toBe("");
}

test(
  'the chapter "To a real account" of the README works as it is typed',
  async () => {
    const ended: Typed[] = [];
    let inBucket: string[] = [];
    for (const line of linesOf("To a real account")) {
      if (line === "npm ci") continue; // the packages are linked
      const typed = await type(shell, filled(line, VALUES));
      ended.push(typed);
      expect(typed.code, typed.said).toBe(0);
      if (line === "pulumi stack init dev") await editSettings();
      if (line === "npm run drift -- dev") {
        inBucket = await makeUseOf();
        await meetTrouble();
      }
    }
    expect(inBucket).toContainEqual(expect.stringMatching(/^steward\/generations\//));
    const said = (line: string) => ended.filter((typed) => typed.line === line).map((typed) => typed.said);

    const [first = "", second = ""] = said("pulumi up -s dev");
    expect(first).toMatch(/ \+ \d\d created/);
    expect(first).toContain(`url                   : "${world.front.url}"`);
    // One line, where the manifest itself would be forty.
    expect(first).toMatch(/^ *slackManifest +: "npm run slack-manifest -- dev"$/m);
    expect(second).toMatch(/~ 1 updated|± ?\+?-?\d+ replaced|\d+ replaced/);
    expect(said("npm run drift -- dev")[0]).toContain("No drift.");
    const [destroyed = ""] = said("pulumi destroy -s dev");
    expect(destroyed).toMatch(/- \d\d deleted/);
    expect(destroyed).toMatch(/The bucket dev-steward stays, with \d+ objects/);
    const manifest = JSON.parse(await readFile(join(checkout.root, "slack-app.json"), "utf8"));
    expect(manifest.settings.event_subscriptions.request_url).toBe(`${world.front.url}/slack/events`);
    const printed = ended.map((typed) => typed.said).join("\n");
    for (const secret of Object.values(VALUES)) expect(printed).not.toContain(secret);
  },
  UPDATE_MS * 4,
);

test(
  "the next update adopts the bucket, and a destroy empties it where the README says so",
  async () => {
    const line = /`(pulumi config set -s dev steward:bucketOnDestroy empty)`/.exec(
      await readFile(resolve("README.md"), "utf8"),
    )?.[1];
    await works(line ?? "false");
    expect(await works("pulumi up -s dev")).toContain("The bucket dev-steward is adopted with its data");
    expect(await works("pulumi preview -s dev")).toMatch(/Resources:\n +\d+ unchanged\n/);
    expect(await works("pulumi destroy -s dev")).toMatch(/Deleted the bucket dev-steward with \d+ objects/);
    expect(world.stage.cloudflare.account.state.buckets).toEqual([]);
  },
  UPDATE_MS * 2,
);
