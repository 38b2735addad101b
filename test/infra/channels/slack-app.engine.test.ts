import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { slackApps } from "../../../rehearsal/standins/slack-apps.ts";
import { createTestStack, ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const APP = "A0123456789";
const TOKEN = "xoxe.xoxp-1-a-configuration-token";
const EXPIRED = "xoxe.xoxp-1-of-yesterday";

// As Node itself loads it: what the test runner makes of a module cannot be serialised into the state.
const { Registrations } = createRequire(import.meta.url)(
  "../../../infra/channels/registrations.ts",
) as typeof import("../../../infra/channels/registrations.ts");

describe("the manifest of a Slack app, under the real engine", () => {
  const slack = slackApps({ id: APP, configToken: TOKEN });
  let api: Listening;
  let subject: TestStack;
  /** What the program deploys; tests change it. */
  let args = { url: "https://one.example.com", configToken: TOKEN };

  beforeAll(async () => {
    api = await listen(new Hono().route("/api", slack.routes), { hostname: "127.0.0.1", port: 0 });
    const config = { "steward:endpoints": { value: JSON.stringify({ slack: `${api.url}/api/` }) } };
    subject = await createTestStack({ program, config });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await api?.close();
  }, UPDATE_MS);

  async function program(): Promise<Record<string, pulumi.Output<string>>> {
    const configToken = pulumi.secret(args.configToken);
    const registrations = new Registrations("channels", {
      url: args.url,
      slack: { appId: APP, configToken },
    });
    return { report: registrations.report };
  }

  const address = () => JSON.stringify(slack.manifest()["settings"] ?? "");

  test(
    "is set, and told where its permissions are others",
    async () => {
      const { outputs, stdout } = await subject.stack.up();

      expect(address()).toContain("https://one.example.com/slack/events");
      expect(outputs["report"]?.value).toBe(
        `Slack's app ${APP} sends to https://one.example.com/slack/events`,
      );
      expect(stdout).toContain(`Slack's app ${APP} has other permissions now: reinstall it`);
      expect(await stateText(subject)).not.toContain(TOKEN);
    },
    UPDATE_MS,
  );

  test(
    "asks for no new token while it stays as it is, also in a refresh",
    async () => {
      args = { ...args, configToken: EXPIRED };
      const { summary, stdout } = await subject.stack.up({ refresh: true });

      expect(Object.keys(summary.resourceChanges ?? {})).toEqual(["same"]);
      expect(stdout).not.toContain(EXPIRED);
    },
    UPDATE_MS,
  );

  test(
    "another address with an expired token stops the update with the fix",
    async () => {
      args = { ...args, url: "https://two.example.com" };
      const failure = await subject.stack.up().then(() => "", String);

      expect(failure).toContain("Slack refuses the app configuration token (slack_config_token_invalid)");
      expect(failure).toContain("pulumi config set --secret steward:slackConfigToken");
      expect(failure).not.toContain(EXPIRED);
      expect(address()).toContain("https://one.example.com/slack/events");

      args = { ...args, configToken: TOKEN };
      await subject.stack.up();
      expect(address()).toContain("https://two.example.com/slack/events");
    },
    UPDATE_MS,
  );

  test(
    "what someone has changed by hand is found by a refresh, and put right; destroyed, the app stays",
    async () => {
      slack.edit({ settings: {} });
      const { summary } = await subject.stack.up({ refresh: true });
      expect(summary.resourceChanges).toMatchObject({ update: 1 });
      expect(address()).toContain("https://two.example.com/slack/events");

      await subject.stack.destroy();
      expect(address()).toContain("https://two.example.com/slack/events");
    },
    UPDATE_MS,
  );
});
