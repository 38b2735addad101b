import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

  constructor(component: string, name: string, args: pulumi.Inputs, opts: pulumi.ComponentResourceOptions = {}) {
    super(`steward:index:${component}`, name, { url: undefined, audience: undefined, ...args }, opts, true);
  }
}

describe("components that the provider creates", () => {
  let world: ServerlessStage;
  let subject: TestStack;
  let wrong: pulumi.Inputs = {};

  beforeAll(async () => {
    world = await startServerlessStage();
    const given = world.config();
    const valueOf = (key: string) => given[key]?.value ?? "";
    const program = () => {
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
        ...wrong,
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
      console.log(outputs);
      expect(outputs).toMatchObject({ url: { value: world.front.url } });
      expect(await stateText(subject)).not.toContain(MODEL_KEY);
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "report every wrong argument at once, without its value",
    async () => {
      wrong = { sleepAfter: 7, slack: pulumi.secret({ botToken: "xoxb-secret" }), sleepafter: "1m" };
      const failure = await subject.stack.preview().then(() => "", String);
      console.log(failure);
      expect(failure).toContain("Invalid arguments of bot (stack_config_invalid), 3 problems:");
    },
    UPDATE_MS,
  );
});
