import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineEvent, UpOptions } from "@pulumi/pulumi/automation/index.js";
import type { RequestFault } from "../../rehearsal/cloudflare/faults.ts";
import { createDiscordKey } from "../../rehearsal/standins/discord-key.ts";
import { startDiscord, type DiscordStandIn } from "../../rehearsal/standins/discord.ts";
import { listen, type Listening } from "../../rehearsal/standins/serve.ts";
import { slackApps } from "../../rehearsal/standins/slack-apps.ts";
import { startTelegram, type TelegramStandIn } from "../../rehearsal/standins/telegram.ts";
import { BUCKET_KEYS } from "../../runtime/contract/backup.ts";
import { stepsOf } from "../../stacks/commands/deployed/stack.ts";
import { fixFor, stackShell, typeFix, waysOf } from "../journeys/typed.ts";
import { ACCOUNT, SCRIPT, TOKEN } from "../rehearsal/support.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { stackCommand } from "../support/stack-command.ts";
import { ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../support/stack.ts";

/**
 * Everything that the serverless stack has outside of its state, changed by hand: `drift`, a refresh and `up --refresh`
 * have to see each of it and put it back. Whoever adds a resource or an input adds a row, or says in `UNSEEN` why there
 * is none: the last test compares both tables with the state.
 */
interface Row {
  /** The resource's name and its input, as `drift` prints them. */
  name: string;
  path: string;
  /** Another path that the same change shows at. */
  also?: string;
  change: () => unknown;
  /** Returns what is there now, to compare it before and after. */
  read: () => unknown;
}

/** Inputs that cannot differ from the state, or cannot be read; `*` is a resource as a whole. */
const UNSEEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "*": {
    accountId: "an address",
    connection: "changes nothing",
    scriptName: "an address",
    workerId: "an address",
  },
  "cloudflare:index/workersCustomDomain:WorkersCustomDomain": { hostname: "an address; see what is gone" },
  "cloudflare:index/worker:Worker": { name: "the emulated account does not model a renamed Worker" },
  "cloudflare:index/workerVersion:WorkerVersion": {
    "*": "a version never changes; which one serves is a row",
  },
  "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication": {
    type: "an application has one type for life",
  },
  "command:local:Command": { "*": "a command that has run; there is nothing to look at" },
  "steward:channels:DiscordCommands": {
    applicationId: "an address",
    botToken: "a secret, which is never told",
  },
  "steward:channels:DiscordEndpoint": {
    applicationId: "an address",
    botToken: "a secret, which is never told",
    publicKey: "an application's key is changed by Discord alone; platform-providers.process.test.ts",
  },
  "steward:channels:SlackApp": {
    appId: "an address",
    configToken: "a secret, which is never told",
  },
  "steward:channels:TelegramWebhook": {
    botToken: "a secret, which is never told",
    secretToken: "a secret, which is never told",
  },
  "steward:secrets:AttestationKey": { "*": "in the state alone" },
  "steward:secrets:ConfigCheck": { "*": "a check that has run" },
  "steward:secrets:SecretCheck": { "*": "a check that has run" },
  "steward:serverless:ContainerApplication": {
    name: "an application has one name for life; see what is gone",
    className: "an application stays tied to one class; see what is gone",
  },
  "steward:serverless:CostEstimate": { "*": "a calculation" },
  "steward:serverless:StateBucket": {
    name: "a bucket has one name for life; see what is gone",
    defaultName: "a name",
    onDestroy: "says what a destroy does",
    adopt: "says what an update may take over",
  },
  "steward:serverless:Deployment": { lastTag: "belongs to the migrations" },
  "steward:serverless:MigrationPlan": { "*": "in the state alone" },
  "steward:serverless:Migrations": { "*": "migrations.engine.test.ts changes what is applied" },
};

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const TELEGRAM_TOKEN = "1234567890:abcdefghijklmnopqrstuvwxyz0123456";
const DISCORD_TOKEN = "a-bot-token-of-discord-0123456789";
const APPLICATION = "1000000000000000001";
const HOSTNAME = "steward.acme.dev";
const SLACK_APP = "A0123456789";
const SLACK_TOKEN = "xoxe.xoxp-1-a-configuration-token";
const OWNER = `/r2/buckets/test-steward/objects/${BUCKET_KEYS.owner}`;
const ELSEWHERE = "https://elsewhere.example.com/hook";

let world: ServerlessStage;
let subject: TestStack;
let telegram: TelegramStandIn;
let discord: DiscordStandIn;
let platforms: Listening;
const slack = slackApps({ id: SLACK_APP, configToken: SLACK_TOKEN });

beforeAll(async () => {
  const key = createDiscordKey();
  telegram = await startTelegram({ ...LOOPBACK, botToken: TELEGRAM_TOKEN });
  discord = await startDiscord({
    ...LOOPBACK,
    botToken: DISCORD_TOKEN,
    applicationId: APPLICATION,
    key,
  });
  const answers = new Hono()
    .get("/v1/models", (context) => context.json({ data: [] }))
    .post("/api/auth.test", (context) => context.json({ ok: true }))
    .route("/api", slack.routes);
  platforms = await listen(answers, LOOPBACK);
  world = await startServerlessStage();
  const endpoints = {
    anthropic: platforms.url,
    slack: `${platforms.url}/api/`,
    telegram: telegram.url,
    discord: discord.apiUrl,
  };
  const { "steward:subdomain": _, ...config } = world.config();
  subject = await world.bare({
    name: "test",
    config: {
      ...config,
      "steward:hostname": { value: HOSTNAME },
      "steward:image": { value: "steward:one" },
      "steward:endpoints": { value: JSON.stringify(endpoints) },
      "steward:telegramBotToken": { value: TELEGRAM_TOKEN, secret: true },
      "steward:discordBotToken": { value: DISCORD_TOKEN, secret: true },
      "steward:discordApplicationId": { value: APPLICATION },
      "steward:discordPublicKey": { value: key.publicKey },
      "steward:slackAppId": { value: SLACK_APP },
      "steward:slackConfigToken": { value: SLACK_TOKEN, secret: true },
    },
  });
  await subject.stack.up();
}, ENGINE_MS);

afterAll(async () => {
  await world?.close();
  await Promise.all([telegram, discord, platforms].map((server) => server?.close()));
}, UPDATE_MS);

/** The account's HTTP API, as the dashboard calls it. */
async function api<Result = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
): Promise<Result> {
  const response = await fetch(`${world.stage.cloudflare.url}/accounts/${ACCOUNT}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { result: Result };
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.result;
}

const account = () => world.stage.cloudflare.account.state;
const drift = () => stackCommand(subject, "drift.ts", "test", "--json");

async function idOf(name: string): Promise<string> {
  // Exporting the state each time would take minutes of a slow machine.
  const { checkpoint } = JSON.parse(await stateText(subject)) as {
    checkpoint: { latest: { resources: { urn: string; id?: string }[] } };
  };
  const found = checkpoint.latest.resources.find(
    ({ urn, id }) => urn.endsWith(`::${name}`) && id !== undefined,
  );
  if (found?.id === undefined) throw new Error(`there is no ${name}`);
  return found.id;
}

/** A PATCH of the Worker. */
function worker(path: string, body: object): Row {
  const [root = ""] = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split(/[.[]/);
  return {
    name: "steward-worker",
    path,
    change: () => api("PATCH", `/workers/workers/${SCRIPT}`, body),
    read: async () => (await api("GET", `/workers/workers/${SCRIPT}`))[root],
  };
}

/** A PUT of an Access policy or application, with one field changed. */
function access(
  kind: "policies" | "apps",
  name: string,
  path: string,
  field: string,
  changed: (value: unknown) => unknown,
): Row {
  const at = async () => `/access/${kind}/${await idOf(name)}`;
  return {
    name,
    path,
    async change() {
      const { id: _, aud: __, ...body } = await api("GET", await at());
      await api("PUT", await at(), { ...body, [field]: await changed(body[field]) });
    },
    async read() {
      const value = (await api("GET", await at()))[field];
      if (field !== "policies") return value;
      // An application's policies are shown whole, with the times of their own changes.
      return (value as { id: string; precedence: number }[]).map(({ id, precedence }) => [id, precedence]);
    },
  };
}

const EVERYONE = { everyone: {} };
const added = (item: unknown) => (list: unknown) => [...(list as unknown[]), item];
const to = (value: unknown) => () => value;

function application(path: string, change: (at: string) => unknown, read: (one: unknown) => unknown): Row {
  const at = async () => `/containers/applications/${await idOf("steward-sandbox")}`;
  return {
    name: "steward-sandbox",
    path,
    change: async () => change(await at()),
    read: () => read(account().applications[0]),
  };
}

const rollOut = (configuration: object) => async (at: string) => {
  await api("POST", `${at}/rollouts`, {
    description: "by hand",
    strategy: "rolling",
    target_configuration: configuration,
  });
  await expect.poll(() => account().applications[0]).toMatchObject({ configuration });
};

/** Each changes one setting; all of one table are changed at the same time. */
const FIRST: readonly Row[] = [
  worker("logpush", { logpush: true }),
  worker("observability.enabled", { observability: { enabled: false, head_sampling_rate: 1 } }),
  worker("subdomain.previewsEnabled", { subdomain: { enabled: false, previews_enabled: true } }),
  worker("tags[0]", { tags: ["by-hand"] }),
  worker("tailConsumers[0]", { tail_consumers: [{ name: "somebody-elses" }] }),
  {
    name: "steward-worker-deployed",
    path: "versions[0].versionId",
    change: () => deploy([[oldest(), 100]]),
    read: serving,
  },
  {
    name: "steward-state",
    path: "owner",
    change: () => api("DELETE", OWNER),
    read: bucketOwner,
  },
  access("policies", "steward-access-operators", "includes[1]", "include", added(EVERYONE)),
  access("policies", "steward-access-operators", "sessionDuration", "session_duration", to("720h")),
  access(
    "policies",
    "steward-access-operators",
    "excludes[0]",
    "exclude",
    to([{ email: { email: "a@example.com" } }]),
  ),
  access("policies", "steward-access-operators", "name", "name", to("somebody's")),
  access("policies", "steward-access-everyone", "decision", "decision", to("deny")),
  access(
    "policies",
    "steward-access-everyone",
    "requires[0]",
    "require",
    to([{ email: { email: "a@example.com" } }]),
  ),
  access(
    "apps",
    "steward-access",
    "destinations[3]",
    "destinations",
    added({ type: "public", uri: "x.example.com/_" }),
  ),
  access("apps", "steward-access", "sessionDuration", "session_duration", to("720h")),
  access("apps", "steward-access", "httpOnlyCookieAttribute", "http_only_cookie_attribute", to(false)),
  access("apps", "steward-access", "appLauncherVisible", "app_launcher_visible", to(false)),
  access("apps", "steward-access", "policies[1]", "policies", async (list: unknown) => [
    ...(list as unknown[]),
    { id: await idOf("steward-access-everyone"), precedence: 2 },
  ]),
  access("apps", "steward-access-public", "name", "name", to("somebody's")),
  application(
    "maxInstances",
    (at) => api("PATCH", at, { max_instances: 7 }),
    (one) => (one as { settings: unknown }).settings,
  ),
  application(
    "image",
    rollOut({ image: "steward:by-hand" }),
    (one) => (one as { configuration: { image: string } }).configuration.image,
  ),
  {
    name: "steward-channels-telegram-webhook",
    path: "url",
    change: () => setWebhook({ url: ELSEWHERE }),
    read: () => telegram.updates.webhook,
  },
  {
    name: "steward-channels-discord-commands",
    path: "commands",
    change: () => discord.registry.change({ commands: [{ type: 1, name: "x", description: "y" }] }),
    read: () => discord.registry.commands(),
  },
  {
    name: "steward-channels-discord-endpoint",
    path: "url",
    change: () => discord.registry.change({ endpoint: ELSEWHERE }),
    read: () => discord.registry.endpoint(),
  },
  {
    name: "steward-channels-slack-app",
    path: "manifest",
    change: () => slack.edit({ oauth_config: { scopes: { bot: [...scopes(), "channels:history"] } } }),
    read: () => slack.manifest(),
  },
];

/** Other changes of the same resources, and of the same settings. */
const SECOND: readonly Row[] = [
  worker("observability.headSamplingRate", { observability: { enabled: true, head_sampling_rate: 0.1 } }),
  worker("subdomain.enabled", { subdomain: { enabled: true, previews_enabled: false } }),
  {
    name: "steward-worker-domain",
    path: "service",
    change: async () => {
      await api("POST", "/workers/workers", { name: "another" });
      await api("PUT", "/workers/domains", { hostname: HOSTNAME, service: "another" });
    },
    read: () => account().domains.map(({ service }) => service),
  },
  {
    name: "steward-worker-deployed",
    path: "versions[1]",
    also: "versions[0].percentage",
    change: () =>
      deploy([
        [newest(), 90],
        [oldest(), 10],
      ]),
    read: serving,
  },
  access(
    "policies",
    "steward-access-operators",
    "includes[0].email.email",
    "include",
    to([{ email: { email: "x@example.com" } }]),
  ),
  access(
    "policies",
    "steward-access-everyone",
    "includes[0].everyone",
    "include",
    to([{ email: { email: "x@example.com" } }]),
  ),
  access("apps", "steward-access", "policies[0].id", "policies", async () => [
    { id: await idOf("steward-access-everyone"), precedence: 1 },
  ]),
  access("apps", "steward-access-public", "destinations[0].uri", "destinations", (list) => [
    { type: "public", uri: "x.example.com/" },
    ...(list as unknown[]).slice(1),
  ]),
  application(
    "instanceType",
    rollOut({ image: "steward:one", instance_type: "basic" }),
    (one) => (one as { configuration: { instance_type: string } }).configuration.instance_type,
  ),
  {
    name: "steward-channels-telegram-webhook",
    path: "allowedUpdates[3]",
    change: () => setWebhook({ allowedUpdates: ["message", "edited_message", "callback_query", "poll"] }),
    read: () => telegram.updates.webhook,
  },
  {
    name: "steward-channels-telegram-webhook",
    path: "maxConnections",
    change: () => setWebhook({ maxConnections: 1 }),
    read: () => telegram.updates.webhook,
  },
];

/** Everything that can be deleted alone. */
const GONE: readonly Omit<Row, "path">[] = [
  {
    name: "steward-worker-domain",
    change: async () => api("DELETE", `/workers/domains/${await idOf("steward-worker-domain")}`),
    read: () => account().domains.map(({ hostname, service }) => [hostname, service]),
  },
  ...["steward-access", "steward-access-public"].map((name) => ({
    name,
    change: async () => api("DELETE", `/access/apps/${await idOf(name)}`),
    read: () =>
      account()
        .accessApplications.map((one) => [one.name, one.destinations])
        .sort(),
  })),
  {
    name: "steward-access-operators",
    change: async () => api("DELETE", `/access/policies/${await idOf("steward-access-operators")}`),
    read: () =>
      account()
        .policies.map(({ decision, body }) => JSON.stringify([decision, body]))
        .sort(),
  },
  {
    name: "steward-sandbox",
    change: async () => api("DELETE", `/containers/applications/${await idOf("steward-sandbox")}`),
    read: () =>
      account()
        .applications.filter(({ goneAt }) => goneAt === undefined)
        .map(({ name }) => name),
  },
  {
    name: "steward-state",
    async change() {
      await api("DELETE", OWNER);
      await api("DELETE", "/r2/buckets/test-steward");
    },
    read: () => account().buckets.map(({ name }) => name),
  },
  {
    name: "steward-channels-telegram-webhook",
    change: () => telegram.updates.setWebhook(undefined, false),
    read: () => telegram.updates.webhook,
  },
  {
    name: "steward-channels-discord-commands",
    change: () => discord.registry.change({ commands: [] }),
    read: () => discord.registry.commands(),
  },
  {
    name: "steward-channels-discord-endpoint",
    change: () => discord.registry.change({ endpoint: null }),
    read: () => discord.registry.endpoint(),
  },
];

const oldest = () => account().versions[0]?.id ?? "";
const newest = () => account().versions.at(-1)?.id ?? "";

function deploy(shares: readonly (readonly [string, number])[]) {
  const versions = shares.map(([version_id, percentage]) => ({ version_id, percentage }));
  return api("POST", `/workers/scripts/${SCRIPT}/deployments`, { strategy: "percentage", versions });
}

async function serving(): Promise<unknown> {
  const { deployments } = await api<{ deployments: { versions: unknown }[] }>(
    "GET",
    `/workers/scripts/${SCRIPT}/deployments`,
  );
  return deployments[0]?.versions;
}

/** An object is answered as it is, without an envelope. */
async function bucketOwner(): Promise<unknown> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${world.stage.cloudflare.url}/accounts/${ACCOUNT}${OWNER}`, { headers });
  return ((await response.json()) as { owner: string }).owner;
}

function setWebhook(changes: object): void {
  const { webhook } = telegram.updates;
  if (webhook === undefined) throw new Error("there is no webhook");
  telegram.updates.setWebhook({ ...webhook, ...changes }, false);
}

function scopes(): string[] {
  const { oauth_config: oauth } = slack.manifest() as { oauth_config: { scopes: { bot: string[] } } };
  return oauth.scopes.bot;
}

/** The drifts that a report of `drift --json` has, as `<name> <path>`. */
function reported({ drift: found }: Record<string, unknown>): string[] {
  const list = (found ?? []) as { name: string; what: string; properties: string[] }[];
  return list.flatMap(({ name, what, properties }) =>
    what === "gone" ? [`${name} gone`] : properties.map((path) => `${name} ${path}`),
  );
}

async function readAll(rows: readonly Pick<Row, "read">[]): Promise<unknown[]> {
  return Promise.all(rows.map(({ read }) => read())).then((values) => structuredClone(values));
}

async function expectNone(): Promise<void> {
  const { code, stderr, report } = await drift();
  expect(report).toMatchObject({ drift: [] });
  // One line, and nothing of the engine's.
  expect(stderr).toBe("No drift.\n");
  expect(code).toBe(0);
}

describe("what somebody changes by hand is seen by drift and by a refresh, and up --refresh puts it back:", () => {
  test("nothing has drifted after the first update", expectNone, UPDATE_MS);

  test.each([
    ["the first table", FIRST],
    ["the second table", SECOND],
  ])(
    "%s",
    async (_, rows) => {
      const before = await readAll(rows);
      for (const { change } of rows) await change();

      const { code, report, stderr } = await drift();
      const paths = rows.flatMap(({ name, path, also = path }) => [`${name} ${path}`, `${name} ${also}`]);
      expect(reported(report).sort(), stderr).toEqual([...new Set(paths)].sort());
      expect(code).toBe(2);
      for (const { name } of rows) expect(stderr).toContain(`changed: ${name} (`);
      expect(stderr).toContain("pulumi up -s test --refresh");
      expect(stderr.split("\n").length).toBeLessThan(rows.length + 4);

      const steps: string[] = [];
      const onEvent = (event: EngineEvent): void =>
        void steps.push(...stepsOf(event).map(({ name }) => name));
      await subject.stack.preview({ refresh: true, onEvent });
      expect(steps).toEqual(expect.arrayContaining(rows.map(({ name }) => name)));

      await subject.stack.up({ refresh: true });
      expect(await readAll(rows)).toEqual(before);
      await expectNone();
    },
    UPDATE_MS * 2,
  );

  test(
    "what is gone",
    async () => {
      const before = await readAll(GONE);
      for (const { change } of GONE) await change();

      expect(reported((await drift()).report).sort()).toEqual(GONE.map(({ name }) => `${name} gone`).sort());
      const refresh = await subject.stack.refresh();
      expect(refresh.summary.resourceChanges).toMatchObject({ delete: GONE.length });
      await subject.stack.up();
      expect(await readAll(GONE)).toEqual(before);
      await expectNone();
    },
    UPDATE_MS * 2,
  );

  test(
    "what an update meets that is gone, or refused, comes back by the command that the update prints",
    async () => {
      for (const { name, change } of GONE)
        if (["steward-state", "steward-sandbox"].includes(name)) await change();
      await subject.stack.setConfig("steward:bucketOnDestroy", { value: "empty" });
      await subject.stack.setConfig("steward:image", { value: "steward:two" });
      const { deployment } = await subject.stack.exportStack();
      const target = (deployment as { resources: { urn: string }[] }).resources
        .map(({ urn }) => urn)
        .filter((urn) => urn.endsWith("::steward-sandbox"));
      const refused: RequestFault = {
        method: "GET",
        path: /^\/containers\/applications\/./,
        times: 1,
        outcome: 400,
      };
      const met = async (options?: UpOptions) => subject.stack.up(options).then(() => "", String);
      const said = { bucket_gone: await met(), application_gone: await met({ target }) };
      world.stage.cloudflare.faults.requests.push(refused);
      const all = { ...said, cloudflare_refused: await met({ target }) };

      const printed = Object.entries(all).map(([code, text]) => waysOf(fixFor(code, text))[0]?.[0]);
      expect(printed).toEqual(printed.map(() => "pulumi up -s test --refresh"));
      const shell = await stackShell(subject, "gone");
      await typeFix(shell, fixFor("cloudflare_refused", all.cloudflare_refused));
      expect(account().buckets.map(({ name }) => name)).toEqual(["test-steward"]);
      expect(account().applications.at(-1)).toMatchObject({ configuration: { image: "steward:two" } });
      await expectNone();
    },
    UPDATE_MS * 2,
  );

  test("every input of every resource has a row, or a reason why there is none", async () => {
    const { deployment } = await subject.stack.exportStack();
    const { resources } = deployment as {
      resources: { urn: string; type: string; custom: boolean; inputs?: object }[];
    };
    const customs = resources.filter(({ custom }) => custom);
    const nameTypes = new Map(customs.map(({ urn, type }) => [urn.split("::").at(-1), type]));
    const missing = customs.flatMap(({ urn, type, inputs = {} }) => {
      if (type.startsWith("pulumi:providers:")) return [];
      const name = urn.split("::").at(-1);
      const rows = [...FIRST, ...SECOND].filter((row) => nameTypes.get(row.name) === type);
      const seen = new Set(rows.map(({ path }) => path.split(/[.[]/)[0]));
      const unseen = { ...UNSEEN["*"], ...UNSEEN[type] };
      if (unseen["*"] !== undefined) return [];
      const open = Object.keys(inputs).filter(
        (key) => !key.startsWith("__") && !seen.has(key) && unseen[key] === undefined,
      );
      return open.map((key) => `${name} (${type}): ${key}`);
    });
    expect(missing).toEqual([]);
  });

  test(
    "a Worker that is gone takes all of its own with it, and leaves an application that is tied to nothing",
    async () => {
      await api("DELETE", `/workers/workers/${SCRIPT}`);
      const { report, stderr, code } = await drift();
      expect(reported(report)).toEqual(
        expect.arrayContaining(["steward-worker gone", "steward-worker-deployed gone"]),
      );
      expect(stderr).toContain("changed: steward-sandbox (");
      expect(code).toBe(2);
      expect(await subject.stack.up({ refresh: true }).then(() => "", String)).toContain(
        "application_orphaned",
      );
    },
    UPDATE_MS,
  );
});
