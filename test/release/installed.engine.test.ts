import { afterAll, beforeAll, expect, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { type } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { startAnsweringStage, type AnsweringStage } from "../support/answering-stage.ts";
import { MODEL_KEY, SIGNING_SECRET, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { emptyProject, type Project } from "./project.ts";

let stage: AnsweringStage;
let world: ServerlessStage;
let project: Project;

beforeAll(async () => {
  stage = await startAnsweringStage();
  ({ world } = stage);
  project = await emptyProject("installed");
}, ENGINE_MS);

afterAll(async () => {
  await stage?.close();
  await project?.remove();
}, UPDATE_MS);

test(
  "an empty folder with the packed package goes up, has nothing to change, and is removed again",
  async () => {
    const { shell, works } = project;
    await project.begin("serverless");
    const wrong = await type(shell, "pulumi preview -s dev");
    expect(wrong.code).not.toBe(0);
    expect(wrong.said).toContain("steward:accountId: missing");

    const { "steward:origin": origin } = world.config();
    await project.configure(
      {
        "steward:target": "serverless",
        "steward:accountId": ACCOUNT,
        "steward:subdomain": "acme",
        "steward:teamDomain": world.identity.url,
        "steward:operators": '["op@acme.com"]',
        "steward:origin": origin?.value ?? "",
        "steward:endpoints": stage.endpoints,
        "cloudflare:baseUrl": world.stage.cloudflare.url,
      },
      {
        "cloudflare:apiToken": TOKEN,
        "steward:anthropicApiKey": MODEL_KEY,
        "steward:slackBotToken": "xoxb-test-0123456789",
        "steward:slackSigningSecret": SIGNING_SECRET,
      },
    );

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
    expect(await stage.converse()).not.toBe("");
    await works("npx steward-deploy backup dev --create");
    const destroyed = (await works("pulumi destroy -s dev")).said;
    expect(destroyed).toMatch(/- \d\d deleted/);
    expect(destroyed).toMatch(/The bucket bot-dev-steward stays, with \d+ objects/);
    expect(await stage.keysOf("bot-dev-steward")).toContainEqual(
      expect.stringMatching(/^steward\/generations\//),
    );
  },
  UPDATE_MS * 4,
);

test("the package's command lists what there is, and refuses what there is not", async () => {
  const { shell, works } = project;
  const help = await works("npx steward-deploy --help");
  expect(help.said).toContain("rollout");
  const wrong = await type(shell, "npx steward-deploy rolout dev");
  expect(wrong.code).toBe(2);
  expect(wrong.said).toContain("there is no command rolout");
  expect((await works("npx steward-deploy rollout --help")).said).toContain(
    "Usage: npx steward-deploy rollout",
  );
});
