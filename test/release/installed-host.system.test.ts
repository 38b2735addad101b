import { afterAll, beforeAll, expect, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { bridgeAddress } from "../../rehearsal/sandbox.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { HOST_NAMES } from "../../runtime/contract/names.ts";
import { engine } from "../support/docker.ts";
import { holdHostNames } from "../support/host-names.ts";
import { freePort } from "../support/ports.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { startStandIns } from "../support/targets/target.ts";
import { emptyProject, type Project } from "./project.ts";

const { container, volume } = HOST_NAMES;
const ADMIN_TOKEN = "the-admin-token-that-nobody-may-read";

const release = await holdHostNames();
let project: Project;
let world: Awaited<ReturnType<typeof startStandIns>>;

beforeAll(async () => {
  if (!engine.ok) return;
  world = await startStandIns(await bridgeAddress());
  project = await emptyProject("installed-host", { docker: true });
}, ENGINE_MS);

afterAll(async () => {
  if (!engine.ok) return;
  await docker(["rm", "--force", container, `${container}-former`]);
  await docker(["volume", "rm", "--force", volume]);
  await world?.platforms.close();
  await project?.remove();
}, UPDATE_MS);
afterAll(release);

test.skipIf(!engine.ok)(
  "the packed package's host template deploys a bot that answers, and has nothing to change",
  async () => {
    const { works } = project;
    const { settings, platforms } = world;
    await project.begin("host");
    const port = await freePort();
    await project.configure(
      { "steward:hostPort": String(port), "steward:endpoints": JSON.stringify(platforms.endpoints) },
      {
        "steward:adminToken": ADMIN_TOKEN,
        "steward:anthropicApiKey": settings.secrets.anthropicApiKey,
        "steward:slackBotToken": settings.secrets.slackBotToken,
        "steward:slackSigningSecret": settings.secrets.slackSigningSecret,
      },
    );

    expect((await works("pulumi up -s dev")).said).toMatch(/readiness +: "ok   GET \/healthz/);
    const message = { method: "POST", ...platforms.slack.sign(mention("hello from the package")) };
    expect((await fetch(`http://127.0.0.1:${port}/slack/events`, message)).status).toBe(200);
    await platforms.slack.waitFor(({ text }) => text.includes("hello from the package"), 120_000);

    await works("npx steward-deploy backup dev --create");

    expect((await works("pulumi preview -s dev")).said).toMatch(/Resources:\n +\d+ unchanged\n/);
    expect((await works("npx steward-deploy drift dev")).said).toContain("No drift.");
    expect((await works("npx steward-deploy compose dev")).said).toContain(
      "Wrote .steward/compose/dev/compose.yaml",
    );
    expect((await works("pulumi destroy -s dev")).said).toMatch(/- \d+ deleted/);
  },
  UPDATE_MS * 4,
);
