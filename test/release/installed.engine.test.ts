import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { fileBackend } from "../../rehearsal/engine/index.ts";
import { type, type Shell, type Typed } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import {
  MODEL_KEY,
  SIGNING_SECRET,
  startServerlessStage,
  type ServerlessStage,
} from "../support/serverless-stack.ts";
import { byHand, ENGINE_MS, PASSPHRASE, testEngine, UPDATE_MS } from "../support/stack.ts";

let world: ServerlessStage;
let folder: string;
let shell: Shell;

beforeAll(async () => {
  world = await startServerlessStage();
  folder = await mkdtemp(join(tmpdir(), "steward-installed-"));
  const bot = join(folder, "bot");
  await Promise.all([mkdir(bot), mkdir(join(folder, "state"))]);
  shell = {
    folder: bot,
    environment: {
      ...(await byHand(await testEngine())),
      PULUMI_BACKEND_URL: fileBackend(join(folder, "state")),
      PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
    },
    transcript: resolve(".steward/artefacts/transcripts/installed.txt"),
  };
  await rm(shell.transcript, { force: true });
}, ENGINE_MS);

afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
}, UPDATE_MS);

async function works(line: string): Promise<Typed> {
  const typed = await type(shell, line);
  expect(typed.code, `${line}\n${typed.said}`).toBe(0);
  return typed;
}

test(
  "an empty folder with the packed package goes up, has nothing to change, and is removed again",
  async () => {
    const packed = await type(
      { ...shell, folder: resolve(".") },
      `npm run --silent package -- --out ${folder}/package`,
    );
    expect(packed.code, packed.said).toBe(0);
    const file = packed.said.trim().split("\n").at(-1);
    await works(`npm install --prefer-offline --no-audit --no-fund ${file}`);
    // It installs what package.json names: the version that is there, which no registry has before its release.
    await works(
      "pulumi new ./node_modules/steward-gateway/templates/serverless --force --yes --name bot --stack dev",
    );
    expect(await readdir(shell.folder)).toEqual(
      expect.arrayContaining(["Pulumi.yaml", "README.md", "index.js", "package.json"]),
    );
    const wrong = await type(shell, "pulumi preview -s dev");
    expect(wrong.code).not.toBe(0);
    expect(wrong.said).toContain("steward:accountId: missing");

    const { "steward:origin": origin, "steward:endpoints": endpoints } = world.config();
    const settings = {
      "steward:target": "serverless",
      "steward:accountId": ACCOUNT,
      "steward:subdomain": "acme",
      "steward:teamDomain": world.identity.url,
      "steward:operators": '["op@acme.com"]',
      "steward:origin": origin?.value,
      "steward:endpoints": endpoints?.value,
      "cloudflare:baseUrl": world.stage.cloudflare.url,
    };
    const plain = Object.entries(settings).map(([key, value]) => `--plaintext '${key}=${value}'`);
    const secrets = [
      `cloudflare:apiToken=${TOKEN}`,
      `steward:anthropicApiKey=${MODEL_KEY}`,
      `steward:slackBotToken=xoxb-test-0123456789`,
      `steward:slackSigningSecret=${SIGNING_SECRET}`,
    ];
    const hidden = secrets.map((entry) => `--secret '${entry}'`);
    await works(`pulumi config set-all -s dev ${[...plain, ...hidden].join(" ")}`);

    const { said } = await works("pulumi up -s dev");
    const { hash } = await buildBundle();
    expect(said).toContain(`bundleHash            : "${hash}"`);
    expect(said).toContain('slackManifest         : "npx steward-deploy slack-manifest dev"');
    expect((await fetch(`${world.front.url}/healthz`)).status).toBe(200);
    expect((await works("pulumi preview -s dev")).said).toMatch(/Resources:\n +\d+ unchanged\n/);
    expect((await works("npx steward-deploy drift dev")).said).toContain("No drift.");
    // Under another Node, whose programs lie elsewhere: the state names no place of this machine.
    const rollout = await works("npm run --silent rollout -- dev");
    expect(rollout.said).toContain("Nothing is going to change.");
    expect((await works("npx steward-deploy slack-manifest dev")).said).toContain(
      `${world.front.url}/slack/events`,
    );
    expect((await works("pulumi destroy -s dev")).said).toMatch(/- \d\d deleted/);
  },
  UPDATE_MS * 4,
);

test("the package's command lists what there is, and refuses what there is not", async () => {
  const help = await works("npx steward-deploy --help");
  expect(help.said).toContain("rollout");
  const wrong = await type(shell, "npx steward-deploy rolout dev");
  expect(wrong.code).toBe(2);
  expect(wrong.said).toContain("there is no command rolout");
  expect((await works("npx steward-deploy rollout --help")).said).toContain(
    "Usage: npx steward-deploy rollout",
  );
});
