import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import * as pulumi from "@pulumi/pulumi";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../rehearsal/standins/serve.ts";
import { startStage, TOKEN, type Stage } from "../rehearsal/support.ts";
import { exampleConfig } from "../support/example-stack.ts";
import { golden } from "../support/golden.ts";
import { program } from "../../stacks/program.ts";
import { unknownProperties } from "../support/provider-schema.ts";
import { registered, type RegisteredResource } from "../support/registered.ts";
import { cloudflareConfig } from "../support/stack.ts";

const BUCKET = "steward:serverless:StateBucket";
const WORKER = "cloudflare:index/worker:Worker";
const ACCESS = "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication";
const DOMAIN = "cloudflare:index/workersCustomDomain:WorkersCustomDomain";

/** The secrets that the examples' comments tell to set. */
const SECRETS: ConfigMap = {
  "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
  "steward:slackBotToken": { value: "xoxb-test-0123456789", secret: true },
  "steward:slackSigningSecret": { value: "the-signing-secret-0123", secret: true },
};
const MORE_CHANNELS: ConfigMap = {
  "steward:telegramBotToken": { value: "1234567890:the-bots-token", secret: true },
  "steward:discordBotToken": { value: "the-bots-token", secret: true },
  "steward:discordApplicationId": { value: "1000000000000000001" },
  "steward:discordPublicKey": { value: "0".repeat(64) },
};

/** What the serverless program registers, by Pulumi's mocks: the engine's own life cycle is in serverless.engine.test.ts. */
describe("the shape of the serverless stack", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage();
  });

  afterAll(() => stage?.close());

  /** What an example registers with these changes; `undefined` removes a key. */
  async function shape(
    name: "dev" | "prod",
    changes: Record<string, ConfigMap[string] | undefined> = {},
  ): Promise<RegisteredResource[]> {
    const config: typeof changes = {
      ...(await exampleConfig(name)),
      ...SECRETS,
      ...changes,
      ...cloudflareConfig(stage.cloudflare.url, TOKEN),
    };
    const given = Object.entries(config).filter(([, value]) => value !== undefined);
    return registered(program, { config: Object.fromEntries(given) as ConfigMap, stack: name });
  }

  const ofType = (resources: readonly RegisteredResource[], type: string) =>
    resources.filter((resource) => resource.type === type);

  test.each([
    { name: "dev" as const, channels: {} },
    { name: "prod" as const, channels: MORE_CHANNELS },
  ])(
    "$name is as in its golden file, and uses no property that the official provider lacks",
    async (example) => {
      const { name, channels } = example;
      const resources = await shape(name, channels);

      expect(await unknownProperties(resources)).toEqual([]);
      expect(ofType(resources, BUCKET)).toMatchObject([
        { inputs: { defaultName: `${name}-steward`, owner: `steward/${name}`, onDestroy: "keep" } },
      ]);
      const replaced = [[stage.cloudflare.url, "<api>"]] as const;
      await expect(await golden(resources, replaced)).toMatchFileSnapshot(`golden/${name}.json`);
    },
  );

  test("a renamed Worker is replaced, and the bucket is protected only if the configuration says so", async () => {
    const open = await shape("dev");
    expect(ofType(open, WORKER)).toMatchObject([{ name: "steward-worker", replaceOnChanges: ["name"] }]);
    expect(open.filter(({ protect }) => protect)).toEqual([]);

    const kept = await shape("dev", { "steward:protectState": { value: "true" } });
    expect(kept.filter(({ protect }) => protect).map(({ type }) => type)).toEqual([BUCKET]);
  });

  test("a host name of one's own closes workers.dev, and frees the name before it moves", async () => {
    expect(ofType(await shape("dev"), DOMAIN)).toEqual([]);
    const resources = await shape("dev", {
      "steward:hostname": { value: "bot.acme.dev" },
      "steward:subdomain": undefined,
    });

    expect(ofType(resources, WORKER)).toMatchObject([{ inputs: { subdomain: { enabled: false } } }]);
    expect(ofType(resources, DOMAIN)).toMatchObject([
      {
        inputs: { hostname: "bot.acme.dev" },
        deleteBeforeReplace: true,
        dependsOn: ["steward-worker-deployed", "steward-worker"],
      },
    ]);
  });

  test("a sandbox for each chat adds its variables, the directory and its class, and containers", async () => {
    const [shared, chat] = [
      await shape("dev"),
      await shape("dev", {
        "steward:migrations": undefined,
        "steward:tenancy": { value: "chat" },
        "steward:maxSandboxes": { value: "4" },
        "steward:canaryTenants": { value: '["slack-C0123456789","web-d1"]' },
      }),
    ];
    expect(await unknownProperties(chat)).toEqual([]);
    expect(await shape("dev", { "steward:tenancy": { value: "shared" } })).toEqual(shared);

    const before = new Set(shared.map((one) => JSON.stringify(one)));
    const differing = chat.filter((one) => !before.has(JSON.stringify(one)));
    expect(chat).toHaveLength(shared.length);
    expect(differing.map(({ name }) => name).sort()).toEqual([
      "steward-cost",
      "steward-migrations",
      "steward-sandbox",
      "steward-worker-current",
      "steward-worker-deployed",
      "steward-worker-migrate",
    ]);
    const replaced = [[stage.cloudflare.url, "<api>"]] as const;
    await expect(await golden(differing, replaced)).toMatchFileSnapshot("golden/dev-chat.json");
  });

  test("the operator's own secrets are secret bindings, and their names are told to the runtime", async () => {
    const resources = await shape("dev", {
      "steward:secrets": { value: '{"MISTRAL_API_KEY":"mistral-key-0123456789"}', secret: true },
      "steward:variables": { value: '{"REGION":"europe-west"}' },
    });
    const bindings = resources.find(({ name }) => name === "steward-worker-current")?.inputs["bindings"];

    expect(bindings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "MISTRAL_API_KEY", type: "secret_text" }),
        { name: "REGION", type: "plain_text", text: "europe-west" },
        { name: "STEWARD_OWN_SECRETS", type: "plain_text", text: "MISTRAL_API_KEY" },
        { name: "STEWARD_OWN_VARIABLES", type: "plain_text", text: "REGION" },
      ]),
    );
    expect(JSON.stringify(resources)).not.toContain("mistral-key");
  });

  test("alerts by e-mail bind the Worker to one sender and one receiver, and to none otherwise", async () => {
    const email = { from: "steward@acme.dev", to: "ops@acme.dev" };
    const emailBinding = async (changes: Record<string, ConfigMap[string]>) => {
      const current = (await shape("dev", changes)).find(({ name }) => name === "steward-worker-current");
      return ((current?.inputs["bindings"] ?? []) as { type: string }[]).filter(
        ({ type }) => type === "send_email",
      );
    };

    expect(await emailBinding({})).toEqual([]);
    const bound = await emailBinding({
      "steward:alerts": { value: JSON.stringify({ email }), secret: true },
    });
    expect(bound).toMatchObject([
      { name: "ALERT_EMAIL", allowedSenderAddresses: [expect.anything()], allowedDestinationAddresses: [{}] },
    ]);
    expect(JSON.stringify(bound)).not.toContain("acme.dev");
  });

  test.each([true, false])(
    "an app of Discord's with bot_public %s is warned of if anyone may add it",
    async (isPublic) => {
      const discord = await listen(
        new Hono().get("/applications/@me", (context) => context.json({ bot_public: isPublic })),
        { hostname: "127.0.0.1", port: 0 },
      );
      const warn = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
      onTestFinished(async () => {
        warn.mockRestore();
        await discord.close();
      });
      const endpoints = { value: JSON.stringify({ discord: discord.url }) };
      await shape("dev", { ...MORE_CHANNELS, "steward:endpoints": endpoints });

      const warned = warn.mock.calls.map(([text]) => text).filter((text) => text.includes("bot_public"));
      expect(warned).toHaveLength(isPublic ? 1 : 0);
    },
  );

  test.each([
    [MORE_CHANNELS, 1],
    [{}, 0],
  ])("says what Discord cannot have on Cloudflare where it is configured", async (changes, times) => {
    const info = vi.spyOn(pulumi.log, "info").mockResolvedValue();
    onTestFinished(() => info.mockRestore());
    await shape("dev", changes);
    expect(
      info.mock.calls.filter(([text]) => text.includes("limited to slash commands and buttons")),
    ).toHaveLength(times);
  });

  test("without operators there is no identity gateway, and the Worker gets no audience", async () => {
    const resources = await shape("dev", { "steward:operators": undefined, "steward:teamDomain": undefined });

    expect(ofType(resources, ACCESS)).toEqual([]);
    expect(JSON.stringify(resources)).not.toContain("EDGE_ACCESS_AUD");
  });

  test("private webhooks have no public paths, and no platform is registered", async () => {
    const resources = await shape("dev", {
      ...MORE_CHANNELS,
      "steward:publicWebhooks": { value: "false" },
    });

    expect(ofType(resources, ACCESS).map(({ name }) => name)).toEqual(["steward-access"]);
    expect(resources.filter(({ type }) => type.startsWith("steward:channels:"))).toEqual([]);
  });

  test("platforms are registered after the probe, the container application after the Worker", async () => {
    const resources = await shape("prod", MORE_CHANNELS);
    const dependenciesOf = (name: string) => resources.find((one) => one.name === name)?.dependsOn;

    expect(dependenciesOf("steward-readiness-probe")).toEqual(
      expect.arrayContaining(["steward-worker-deployed"]),
    );
    expect(dependenciesOf("steward-sandbox")).toEqual(expect.arrayContaining(["steward-worker-deployed"]));
    expect(dependenciesOf("steward-worker-deployed")).toEqual(
      expect.arrayContaining(["steward-worker-current"]),
    );
  });

  test("what binds a class waits for the migrations, and they wait for the Worker", async () => {
    const resources = await shape("dev");
    const dependenciesOf = (name: string) => resources.find((one) => one.name === name)?.dependsOn;

    expect(dependenciesOf("steward-worker-migrate")).toEqual(expect.arrayContaining(["steward-worker"]));
    expect(dependenciesOf("steward-worker-current")).toEqual(
      expect.arrayContaining(["steward-worker-migrate"]),
    );
    expect(dependenciesOf("steward-worker-deployed")).toEqual(
      expect.arrayContaining(["steward-worker-migrate"]),
    );
  });

  test("an image that is given is neither built nor pushed", async () => {
    const pushed = (resources: readonly RegisteredResource[]) =>
      resources.some(({ name }) => name === "steward-image-push");
    expect(pushed(await shape("dev"))).toBe(true);
    const image = `registry.example.com/steward@sha256:${"1".repeat(64)}`;
    const resources = await shape("dev", { "steward:image": { value: image } });

    expect(pushed(resources)).toBe(false);
    expect(resources.find(({ name }) => name === "steward-sandbox")?.inputs).toMatchObject({ image });
  });

  test("every secret is registered as one", async () => {
    const values = Object.values({ ...SECRETS, ...MORE_CHANNELS }).filter(({ secret }) => secret);
    const text = JSON.stringify(await shape("prod", MORE_CHANNELS));
    expect(values.filter(({ value }) => text.includes(value))).toEqual([]);
  });
});

test("a property that the official provider lacks is found, also in nested objects", async () => {
  const inputs = {
    accountId: "a",
    name: "n",
    nmae: "n",
    observability: { enabled: true, logs: { enbled: true } },
  };

  expect(await unknownProperties([{ type: WORKER, inputs }])).toEqual([
    "cloudflare:index/worker:Worker has no nmae",
    "cloudflare:index/worker:Worker has no observability.logs.enbled",
  ]);
});
