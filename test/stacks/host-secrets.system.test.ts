import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { startDiscord } from "../../rehearsal/standins/discord.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import type { Listening } from "../../rehearsal/standins/serve.ts";
import { startSlack } from "../../rehearsal/standins/slack.ts";
import { startTelegram } from "../../rehearsal/standins/telegram.ts";
import { CONFIG_FILE, DATA_DIRECTORY } from "../../runtime/contract/names.ts";
import { engine } from "../support/docker.ts";
import { ADMIN_TOKEN, createHostStack, type HostStack } from "../support/host-stack.ts";
import { ENGINE_MS, stateText, UPDATE_MS } from "../support/stack.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const KEYS = {
  anthropicApiKey: "sk-ant-of-the-host-0123456789",
  slackBotToken: "xoxb-of-the-host-0123456789",
  slackSigningSecret: "signing-of-the-host-0123456789",
  telegramBotToken: "1234567890:abcdefghijklmnopqrstuvwxyz0123456",
  discordBotToken: "a.token.of.the-host-0123456789",
};
const OWN_SECRET = "a-secret-of-the-operators-own-0123456789";
const NEW_ADMIN_TOKEN = "the-admin-token-that-comes-next";
const WRONG = "sk-ant-wrong-0123456789";
const APPLICATION = "1000000000000000001";

describe.skipIf(!engine.ok)("the secrets of a host stack with all of them", () => {
  let subject: HostStack;
  const servers: Listening[] = [];
  const said: string[] = [];

  beforeAll(async () => {
    const { slackBotToken: botToken, slackSigningSecret: signingSecret } = KEYS;
    const slack = await startSlack({ ...LOOPBACK, botToken, signingSecret });
    const telegram = await startTelegram({ ...LOOPBACK, botToken: KEYS.telegramBotToken });
    const discord = await startDiscord({
      ...LOOPBACK,
      botToken: KEYS.discordBotToken,
      applicationId: APPLICATION,
    });
    const model = await startModel({ ...LOOPBACK, apiKey: KEYS.anthropicApiKey });
    servers.push(slack, telegram, discord, model);
    const endpoints = {
      slack: slack.apiUrl,
      telegram: telegram.url,
      discord: discord.apiUrl,
      anthropic: model.url,
    };
    const secrets = Object.entries(KEYS).map(([key, value]) => [`steward:${key}`, { value, secret: true }]);
    subject = await createHostStack({
      ...Object.fromEntries(secrets),
      "steward:secrets": { value: JSON.stringify({ MISTRAL_API_KEY: OWN_SECRET }), secret: true },
      "steward:endpoints": { value: JSON.stringify(endpoints) },
      "steward:discordApplicationId": { value: APPLICATION },
      "steward:discordPublicKey": { value: discord.publicKey },
    });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await Promise.all(servers.map((server) => server.close()));
  }, UPDATE_MS);

  const onOutput = (text: string) => void said.push(text);
  const setSecret = (key: string, value: string) =>
    subject.stack.setConfig(`steward:${key}`, { value, secret: true });

  async function running(token = ADMIN_TOKEN): Promise<{ secrets: Record<string, string> }> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${subject.url}/debug/version`, { headers });
    return (await answer.json()) as { secrets: Record<string, string> };
  }

  test(
    "are attested by the container, and the rotated one alone is another one then",
    async () => {
      const { outputs } = await subject.stack.up({ onOutput, diff: true });
      expect(outputs["readiness"]?.value).toContain("with the secrets that were deployed");
      const before = await running();
      expect(Object.keys(before.secrets)).toHaveLength(7);

      await setSecret("adminToken", NEW_ADMIN_TOKEN);
      await subject.stack.up({ onOutput, diff: true });
      const after = await running(NEW_ADMIN_TOKEN);
      const changed = Object.keys(after.secrets).filter(
        (name) => after.secrets[name] !== before.secrets[name],
      );
      expect(changed).toEqual(["ADMIN_TOKEN"]);
    },
    ENGINE_MS,
  );

  test(
    "stay as they are where a new one is wrong: the container goes on",
    async () => {
      const id = async () =>
        (await docker(["inspect", "--format", "{{.Id}}", subject.names.container])).stdout;
      const before = await id();
      await setSecret("anthropicApiKey", WRONG);
      const failure = await subject.stack.up({ onOutput }).then(() => "", String);
      said.push(failure);

      expect(failure).toContain("Anthropic refuses the value of steward:anthropicApiKey (secret_refused)");
      expect(await id()).toBe(before);
    },
    UPDATE_MS,
  );

  test(
    "cannot be taken away while the config names them: the preview says where, and by which command they come back",
    async () => {
      await setSecret("anthropicApiKey", KEYS.anthropicApiKey);
      await subject.stack.removeConfig("steward:slackBotToken");
      await subject.stack.removeConfig("steward:slackSigningSecret");
      const refusal = await subject.stack.preview({ onOutput }).then(() => "", String);

      expect(refusal).toContain("config_variables_missing");
      expect(refusal).toContain("channels.slack.botToken names SLACK_BOT_TOKEN");
      expect(refusal).toContain(" --secret steward:slackSigningSecret <value>");
    },
    UPDATE_MS,
  );

  test(
    "a config that the gateway would not start with stops the preview, which says what to repair, and where",
    async () => {
      const config = (line: string) =>
        docker(["exec", "--workdir", DATA_DIRECTORY, subject.names.container, "sh", "-c", line]);
      await setSecret("slackBotToken", KEYS.slackBotToken);
      await setSecret("slackSigningSecret", KEYS.slackSigningSecret);
      await config(`cp ${CONFIG_FILE} before.json && echo '{"agent":{"modell":1}}' > ${CONFIG_FILE}`);
      const refusal = await subject.stack.preview({ onOutput }).then(() => "", String);

      expect(refusal).toMatch(/agent: .*modell.*\(running_config_invalid\)/);
      expect(refusal).toContain("fix: Repair it on the service's page `/_admin/config`");
      await config(`mv before.json ${CONFIG_FILE}`);
      await subject.stack.preview({ onOutput });
    },
    UPDATE_MS,
  );

  test(
    "are in no state, no output and no log",
    async () => {
      const { stdout, stderr } = await docker(["logs", subject.names.container]);
      const kept = [...said, await stateText(subject), stdout, stderr].join("\n");
      const secrets = [...Object.values(KEYS), OWN_SECRET, ADMIN_TOKEN, NEW_ADMIN_TOKEN, WRONG];
      expect(secrets.filter((secret) => kept.includes(secret))).toEqual([]);
    },
    UPDATE_MS,
  );
});
