import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AttestationKey } from "../../../infra/secrets/attestation-key.ts";
import { ACCOUNT, TOKEN } from "../../rehearsal/support.ts";
import {
  MODEL_KEY,
  SIGNING_SECRET,
  startServerlessStage,
  type ServerlessStage,
} from "../../support/serverless-stack.ts";
import { ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../../support/stack.ts";

/** A component as the SDK of another language registers it: the provider creates it. */
class Remote extends pulumi.ComponentResource {
  declare readonly url: pulumi.Output<string>;
  declare readonly audience: pulumi.Output<string | undefined>;

  constructor(
    component: string,
    name: string,
    args: pulumi.Inputs,
    opts: pulumi.ComponentResourceOptions = {},
  ) {
    super(`steward:index:${component}`, name, { url: undefined, audience: undefined, ...args }, opts, true);
  }
}

describe("components that the provider creates", () => {
  let world: ServerlessStage;
  let subject: TestStack;
  let wrong: (later: pulumi.Output<string>) => pulumi.Inputs = () => ({});

  beforeAll(async () => {
    world = await startServerlessStage();
    const given = world.config();
    const valueOf = (key: string) => given[key]?.value ?? "";
    const program = () => {
      const key = new AttestationKey("key", {});
      const bot = new Remote("ServerlessGateway", "bot", {
        accountId: ACCOUNT,
        cloudflare: { apiToken: pulumi.secret(TOKEN), baseUrl: world.stage.cloudflare.url },
        subdomain: pulumi.output("example"),
        origin: valueOf("steward:origin"),
        workerName: "bot",
        models: { anthropicApiKey: pulumi.secret(MODEL_KEY) },
        slack: pulumi.secret({ botToken: "xoxb-test-0123456789", signingSecret: SIGNING_SECRET }),
        access: { teamDomain: valueOf("steward:teamDomain"), operators: ["op@example.com"] },
        endpoints: JSON.parse(valueOf("steward:endpoints")),
        ...wrong(key.key),
      });
      return Promise.resolve({ url: bot.url, audience: bot.audience });
    };
    subject = await world.stack({ program });
  }, ENGINE_MS);

  afterAll(async () => {
    await world?.close();
  }, UPDATE_MS);

  test(
    "go up, and then change nothing",
    async () => {
      const { outputs } = await subject.stack.up();
      expect(outputs).toMatchObject({ url: { value: world.front.url } });
      expect(await stateText(subject)).not.toContain(MODEL_KEY);
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "report every wrong argument at once, without its value",
    async () => {
      const slack = pulumi.secret({ botToken: "xoxb-secret" });
      wrong = () => ({ sleepAfter: 7, slack, sleepafter: "1m" });
      const failure = await subject.stack.preview().then(() => "", String);
      expect(failure).toContain("Invalid arguments of bot (stack_config_invalid), 3 problems:");
      expect(failure).toContain("slack.signingSecret: missing");
      expect(failure).toContain("sleepafter: unknown argument");
      expect(failure).not.toContain("xoxb-secret");
    },
    UPDATE_MS,
  );

  test(
    "report a value that only the update knows, before they change anything",
    async () => {
      wrong = (later) => ({ accountId: later.apply((key) => `${key}!`), sleepAfter: "20m" });
      const failure = await subject.stack.up().then(() => "", String);
      expect(failure).toContain("Invalid arguments of bot (stack_config_invalid), 1 problem:\n");
      expect(failure).toContain("accountId: must be the account's 32 hexadecimal digits");
      const changed = (await subject.stack.history(1))[0]?.resourceChanges;
      expect(Object.keys(changed ?? {})).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "leave a value that a preview does not know to the update, and refuse a group that it does not know",
    async () => {
      const model = () => ({ anthropicApiKey: new AttestationKey("model").key });
      wrong = () => ({ models: model() });
      const { changeSummary } = await subject.stack.preview();
      expect(changeSummary).toMatchObject({ create: 1 });
      expect(changeSummary.update).toBeGreaterThan(0);

      wrong = () => ({ slack: new AttestationKey("slack").key.apply((botToken) => ({ botToken })) });
      const failure = await subject.stack.preview().then(() => "", String);
      expect(failure).toContain("slack: must be an object");
    },
    UPDATE_MS,
  );

  test(
    "say that the account refuses the token, without the token",
    async () => {
      const baseUrl = world.stage.cloudflare.url;
      wrong = () => ({ cloudflare: { apiToken: "another-token_0123456789abcdefghijklmnopqrst", baseUrl } });
      const failure = await subject.stack.preview().then(() => "", String);
      expect(failure).toContain("has a problem: Cloudflare rejects the API token");
      expect(failure).not.toContain("another-token");
    },
    UPDATE_MS,
  );
});
