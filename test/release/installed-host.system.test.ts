import { cp } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { bridgeAddress } from "../../rehearsal/sandbox.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { HOST_NAMES } from "../../runtime/contract/names.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { startAnsweringStage } from "../support/answering-stage.ts";
import { engine } from "../support/docker.ts";
import { holdHostNames } from "../support/host-names.ts";
import { languageHost } from "../support/languages.ts";
import { freePort } from "../support/ports.ts";
import { MODEL_KEY, SIGNING_SECRET } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { startStandIns } from "../support/targets/target.ts";
import { succeed } from "../journeys/typed.ts";
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
      {
        "steward:hostPort": String(port),
        "steward:endpoints": JSON.stringify(platforms.endpoints),
        // A release runs this before it publishes its image.
        "steward:image": "build",
      },
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

test.skipIf(!engine.ok)(
  "a YAML program with a gateway of each kind deploys two bots that answer, and has nothing to change",
  async () => {
    const { settings, platforms } = world;
    const stage = await startAnsweringStage();
    onTestFinished(() => stage.close());
    const { cloudflare } = stage.world.stage;
    const folder = path.join(project.shell.folder, "yaml-both");
    await cp(path.join(import.meta.dirname, "programs/yaml-both"), folder, { recursive: true });
    const PATH = [await languageHost("yaml"), project.shell.environment["PATH"]].join(path.delimiter);
    const shell = { ...project.shell, folder, environment: { ...project.shell.environment, PATH } };
    const works = async (line: string) => (await succeed(shell, line)).said;
    await works("pulumi stack init yaml");
    const port = await freePort();
    const { anthropicApiKey, slackBotToken, slackSigningSecret } = settings.secrets;
    const { anthropic = "", slack = "" } = platforms.endpoints as Record<string, string>;
    const ofWorker = JSON.parse(stage.endpoints) as Record<string, string>;
    await project.configure(
      {
        accountId: ACCOUNT,
        baseUrl: cloudflare.url,
        "cloudflare:baseUrl": cloudflare.url,
        origin: stage.world.front.url,
        workerAnthropic: ofWorker["anthropic"] ?? "",
        workerSlack: ofWorker["slack"] ?? "",
        port: String(port),
        anthropic,
        slack,
      },
      {
        apiToken: TOKEN,
        "cloudflare:apiToken": TOKEN,
        workerModelKey: MODEL_KEY,
        workerBotToken: "xoxb-test-0123456789",
        workerSigningSecret: SIGNING_SECRET,
        anthropicApiKey,
        slackBotToken,
        slackSigningSecret,
      },
      shell,
      "yaml",
    );

    expect(await works("pulumi up -s yaml")).toMatch(/volume +: "steward-yaml-office-data"/);
    const message = { method: "POST", ...platforms.slack.sign(mention("hello from YAML")) };
    expect((await fetch(`http://127.0.0.1:${port}/slack/events`, message)).status).toBe(200);
    await platforms.slack.waitFor(({ text }) => text.includes("hello from YAML"), 120_000);
    expect(await stage.converse()).not.toBe("");
    expect(await works("pulumi preview -s yaml")).toMatch(/Resources:\n +\d+ unchanged\n/);
    await docker(["stop", "steward-yaml-office"]);
    expect(await works("pulumi up -s yaml")).toMatch(/steward:host:Service office-service updated/);
    expect(await works("pulumi destroy -s yaml")).toMatch(/- \d+ deleted/);
  },
  UPDATE_MS * 2,
);

test.skipIf(!engine.ok).each(["python", "yaml"] as const)(
  "the %s template leads from an empty folder to a preview of a host",
  async (language) => {
    const own = await emptyProject(`host-${language}-template`, { docker: true });
    onTestFinished(() => own.remove());
    await own.beginIn(language, "host", {}, { anthropicApiKey: MODEL_KEY, adminToken: ADMIN_TOKEN });
    const { said } = await own.works("pulumi preview -s dev");
    expect(said).toContain('url      : "http://127.0.0.1:8080"');
    expect(said).toMatch(/Resources:\n +\+ \d+ to create\n/);
    expect(said).not.toContain(ADMIN_TOKEN);
  },
  UPDATE_MS * 2,
);
