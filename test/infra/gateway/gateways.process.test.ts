import * as cloudflare from "@pulumi/cloudflare";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  HostGateway,
  type HostGatewayArgs,
  ServerlessGateway,
  type ServerlessGatewayArgs,
} from "../../../infra/gateway/index.ts";
import { startRecorder, type Recorder } from "../../rehearsal/providers/recorder.ts";
import { ACCOUNT, startStage, TOKEN, type Stage } from "../../rehearsal/support.ts";
import { freePort } from "../../support/ports.ts";
import { isManaged, registered, type RegisteredResource } from "../../support/registered.ts";
import { standInDocker } from "../../support/stand-in-docker.ts";

/** The outputs of a program: the addresses of its gateways. */
const addresses = (...gateways: (ServerlessGateway | HostGateway)[]) =>
  Promise.resolve(Object.fromEntries(gateways.map(({ url }, index) => [`url${index}`, url])));

const SECRET = "the-secret-that-nobody-may-read";

describe("gateways in a program of one's own", () => {
  let stage: Stage;
  let restore: () => Promise<void>;

  beforeAll(async () => {
    stage = await startStage();
    restore = await standInDocker();
  });

  afterAll(async () => {
    await restore?.();
    await stage?.close();
  });

  const serverless = (changes: Partial<ServerlessGatewayArgs> = {}): ServerlessGatewayArgs => ({
    accountId: ACCOUNT,
    subdomain: "acme",
    models: { anthropicApiKey: "sk-test-0123456789" },
    cloudflare: { apiToken: TOKEN, baseUrl: stage.cloudflare.url },
    ...changes,
  });
  const host = async (changes: Partial<HostGatewayArgs> = {}): Promise<HostGatewayArgs> => ({
    models: { anthropicApiKey: "sk-test-0123456789" },
    port: await freePort(),
    address: "127.0.0.1",
    ...changes,
  });

  test("two of each go up side by side, with names of their own", async () => {
    const [one, other] = [await host(), await host()];
    const resources = await registered(
      () =>
        addresses(
          new ServerlessGateway("support", serverless()),
          new ServerlessGateway("sales", serverless()),
          new HostGateway("office", one),
          new HostGateway("home", other),
        ),
      { stack: "prod" },
    );

    const keys = resources.map(({ type, name }) => `${type} ${name}`);
    expect(new Set(keys).size).toBe(keys.length);
    const named = (type: string) =>
      resources
        .filter((one) => one.type.endsWith(type))
        .map(({ inputs }) => inputs["name"] ?? inputs["defaultName"]);
    expect(named(":Worker").filter(Boolean)).toEqual(["prod-sales-steward", "prod-support-steward"]);
    expect(named(":StateBucket")).toEqual(["prod-sales-steward", "prod-support-steward"]);
    expect(named("container:Container")).toEqual(["prod-home-steward", "prod-office-steward"]);
    expect(named("volume:Volume")).toEqual(["prod-home-steward-data", "prod-office-steward-data"]);
    // Other processes may read a command's environment.
    const commands = resources.filter(({ type }) => type === "command:local:Command");
    expect(JSON.stringify(commands.map(({ inputs }) => inputs["environment"]))).not.toContain("[secret]");
    const push = commands.find(({ name }) => name === "support-image-push");
    expect(push?.inputs).toMatchObject({ stdin: "[secret]", environment: { PUSH_ACCOUNT: ACCOUNT } });
    const gateways = ["support", "sales", "office", "home"];
    expect(resources.filter(({ name }) => !gateways.some((gateway) => name.startsWith(gateway)))).toEqual([]);
  });

  test("all that is wrong is in one report, by path and without a secret, and nothing is registered", async () => {
    const found: RegisteredResource[] = [];
    const args = {
      models: {},
      subdomain: "acme",
      hostname: "bot.acme.dev",
      slack: { botToken: SECRET },
      telegram: { webhookSecret: `${SECRET} with spaces` },
      sleepAfter: "soon",
      instanceType: "huge",
      monthlyBudget: "6",
      publicWebhooks: "yes",
      secrets: { lower: SECRET },
      access: ["op@acme.dev"],
      slepAfter: SECRET,
    } as unknown as ServerlessGatewayArgs;
    const failure = await registered(() => addresses(new ServerlessGateway("bot", args)), {
      found,
    }).then(() => "", String);

    expect(failure.split("\n").filter((line) => !line.includes("    fix: "))).toEqual([
      "Error: Invalid arguments of bot (stack_config_invalid), 12 problems:",
      "  access: must be an object; only its members may be outputs",
      "  accountId: missing",
      "  instanceType: must be lite, basic, standard-1, standard-2, standard-3 or standard-4",
      "  models.anthropicApiKey: missing",
      "  monthlyBudget: must be US dollars from 0 to 100000, with at most two decimals",
      "  publicWebhooks: must be true or false",
      "  secrets.lower: must be 1 to 64 capital letters, digits and _, and begin with a letter",
      "  slack.signingSecret: missing: Slack is only partly configured, with slack.botToken",
      "  sleepAfter: must be never or a duration such as 30s, 10m, 1h or 1h30m",
      "  slepAfter: unknown argument",
      "  subdomain: given in addition to hostname: the Worker has one address",
      "  telegram.webhookSecret: must be 1 to 256 letters, digits, _ and -",
    ]);
    expect(failure).toContain("    fix: set slack.signingSecret, or leave out slack.botToken");
    expect(failure).not.toContain(SECRET);
    expect(found).toEqual([]);
  });

  test("a sandbox for each chat needs its class, and its arguments nothing else", async () => {
    const told = async (changes: Partial<ServerlessGatewayArgs>) => {
      const failure = await registered(() =>
        addresses(new ServerlessGateway("bot", serverless(changes))),
      ).then(() => "", String);
      return failure.split("\n").slice(1);
    };
    const migrations = [{ tag: "v1", newSqliteClasses: ["Sandbox"] }];
    const entry = '{"tag":"v2","newSqliteClasses":["Directory"]}';
    expect(await told({ tenancy: "chat", maxSandboxes: 0, canaryTenants: ["C1"], migrations })).toEqual([
      "  canaryTenants.0: must be a tenant's id such as slack-C0123456789",
      "    fix: set canaryTenants",
      "  maxSandboxes: must be a whole number from 1 to 500",
      "    fix: set maxSandboxes",
      `  migrations: no entry creates the class Directory, which tenancy chat needs: add ${entry}`,
      `    fix: set migrations to [{"tag":"v1","newSqliteClasses":["Sandbox"]},${entry}]`,
    ]);
    expect(await told({ maxSandboxes: 3 })).toEqual([
      "  maxSandboxes: has no effect: all chats share one sandbox unless tenancy is chat",
      "    fix: set tenancy to chat, or leave out maxSandboxes",
    ]);
    expect(await told({ tenancy: "chat" })).toEqual([]);

    const onHost = { ...(await host()), tenancy: "chat", canaryTenants: ["slack-C1"] } as HostGatewayArgs;
    await expect(registered(() => addresses(new HostGateway("bot", onHost)))).rejects.toThrow(
      "canaryTenants: unknown argument",
    );
  });

  test("values from elsewhere are checked with the same rules before anything is created", async () => {
    const found: RegisteredResource[] = [];
    const args = serverless({
      accountId: pulumi.output("mine"),
      models: { anthropicApiKey: pulumi.secret(` ${SECRET}\n`) },
      access: {
        teamDomain: Promise.resolve("prod-bot-steward.acme.workers.dev"),
        operators: [pulumi.output("op")],
      },
    });
    const failure = await registered(() => addresses(new ServerlessGateway("bot", args)), {
      found,
      stack: "prod",
    }).then(() => "", String);

    expect(failure.split("\n").filter((line) => !line.includes("    fix: "))).toEqual([
      "Error: Invalid arguments of bot (stack_config_invalid), 4 problems:",
      "  access.operators.0: every operator must be an e-mail address",
      "  access.teamDomain: is the Worker's own host; it must be the identity gateway's",
      "  accountId: must be the account's 32 hexadecimal digits",
      expect.stringMatching(/^ {2}models.anthropicApiKey: /),
    ]);
    expect(failure).not.toContain(SECRET);
    const created = found.filter(isManaged);
    expect(created.map(({ name }) => name)).toEqual(["bot-attestation-key"]);
  });

  test("values that a preview cannot know are left to the update, and the others are refused at once", async () => {
    const program = (changes: Partial<ServerlessGatewayArgs>) => () => {
      const zone = new cloudflare.Zone("zone", { account: {}, name: "acme.dev" });
      const args = serverless({ subdomain: undefined, hostname: zone.id, ...changes });
      return addresses(new ServerlessGateway("bot", args));
    };
    const resources = await registered(program({}));
    const domain = resources.find(({ type }) => type.endsWith(":WorkersCustomDomain"));
    expect(domain?.inputs).toMatchObject({ hostname: "[unknown]", accountId: ACCOUNT });

    const failure = await registered(program({ sleepAfter: "soon" })).then(() => "", String);
    expect(failure).toContain("1 problem:\n  sleepAfter: must be");
  });

  test("secrets are secrets, however they are given", async () => {
    const values = serverless({
      models: { anthropicApiKey: SECRET, openaiApiKey: pulumi.output(SECRET) },
      secrets: { MISTRAL_API_KEY: SECRET },
      telegram: { botToken: SECRET },
      alerts: JSON.stringify({ slack: `https://hooks.slack.com/${SECRET}` }),
      cloudflare: { apiToken: TOKEN, baseUrl: stage.cloudflare.url },
    });
    const resources = await registered(() => {
      return addresses(new ServerlessGateway("bot", values));
    });

    expect(JSON.stringify(resources)).not.toContain(SECRET);
    expect(JSON.stringify(resources)).not.toContain(TOKEN);
  });

  test("alerts by e-mail bind the Worker also where their text comes from elsewhere", async () => {
    const email = { from: "steward@acme.dev", to: "ops@acme.dev" };
    const resources = await registered(() => {
      return addresses(
        new ServerlessGateway("bot", serverless({ alerts: pulumi.output(JSON.stringify({ email })) })),
      );
    });
    const current = resources.find(({ name }) => name === "bot-worker-current");
    expect(current?.inputs["bindings"]).toContainEqual(
      expect.objectContaining({ name: "ALERT_EMAIL", type: "send_email" }),
    );
  });

  test("the API is asked with the credentials of the provider in the component's options", async () => {
    const recorder: Recorder = await startRecorder();
    onTestFinished(() => recorder.close());
    const warn = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
    onTestFinished(() => warn.mockRestore());
    await registered(() => {
      const provider = new cloudflare.Provider("acme", { apiToken: TOKEN, baseUrl: recorder.url });
      return addresses(
        new ServerlessGateway("bot", serverless({ cloudflare: undefined }), { providers: [provider] }),
      );
    }).catch(() => undefined);

    expect(JSON.stringify(recorder.take())).toContain(`/accounts/${ACCOUNT}/workers/workers`);
  });
});
