import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen, type Listening } from "../../rehearsal/standins/serve.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { openWorld } from "../../rehearsal/world.ts";
import { ATTESTATION_KEY_VARIABLE } from "../../runtime/contract/attestation.ts";
import { fixFor, waysOf } from "../journeys/typed.ts";
import { filesBelow, leaks } from "../support/leaks.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

const OPENAI_KEY = "sk-openai-the-first-key-0123456789";
const OPENAI_RENEWED = "sk-openai-the-renewed-key-0123456789";
/** A secret that no field of the stack's configuration is for. */
const OWN_SECRET = "a-secret-of-the-operators-own-0123456789";
const ALERTS = JSON.stringify({ email: { from: "steward@acme.dev", to: "ops@acme.dev" } });
const WRONG = "sk-openai-a-wrong-key-0123456789";
const REFUSED_AFTER_MS = 8_000;

type World = Awaited<ReturnType<typeof openWorld>>;

describe("the secrets of a serverless stack with all of them", () => {
  let dir: string;
  let world: World;
  let openai: Listening;
  /** All that the engine has said. */
  const said: string[] = [];

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "steward-secrets-"));
    const app = new Hono().get("/v1/models", async (context) => {
      const key = context.req.header("authorization")?.replace("Bearer ", "");
      if (key === OPENAI_KEY || key === OPENAI_RENEWED) return context.json({});
      // What does not wait for the answer has the time to deploy.
      await sleep(REFUSED_AFTER_MS);
      return context.json({}, 401);
    });
    openai = await listen(app, { hostname: "127.0.0.1", port: 0 });
    world = await openWorld("serverless", { sandbox: "process", dir }, () => {});
    const endpoints = { ...world.platforms.endpoints, openai: `${openai.url}/v1` };
    await world.stack.setConfig("steward:endpoints", { value: JSON.stringify(endpoints) });
    await setSecret("openaiApiKey", OPENAI_KEY);
    await setSecret("alerts", ALERTS);
    await setSecret("secrets", JSON.stringify({ MISTRAL_API_KEY: OWN_SECRET }));
  }, ENGINE_MS);

  afterAll(async () => {
    await world?.close();
    await openai?.close();
    await rm(dir, { recursive: true, force: true });
  }, UPDATE_MS);

  const setSecret = (key: string, value: string) =>
    world.stack.setConfig(`steward:${key}`, { value, secret: true });

  const onOutput = (text: string) => void said.push(text);

  async function up(): Promise<Record<string, string>> {
    const { outputs } = await world.stack.up({ onOutput, onError: onOutput, diff: true });
    return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, String(value)]));
  }

  async function operator(): Promise<Record<string, string>> {
    const { audience } = await world.stack.outputs();
    return world.signIn(String(audience?.value));
  }

  async function ask(route: string): Promise<string> {
    const headers = await operator();
    const { url } = await world.stack.outputs();
    const answer = await fetch(`${url?.value}${route}`, { headers });
    return answer.text();
  }

  async function running(): Promise<{ attestation: string; secrets: Record<string, string> }> {
    return JSON.parse(await ask("/debug/version"));
  }

  test(
    "are attested by what runs after an update: every one that was deployed",
    async () => {
      await world.stack.preview({ onOutput, onError: onOutput, diff: true });
      const { readiness } = await up();

      expect(readiness).toContain("ok   GET /readyz with the secrets that were deployed");
      // An e-mail was sent by the Worker's own binding.
      expect(readiness).toContain("ok   alerts");
      const { attestation, secrets } = await running();
      expect(Object.keys(secrets)).toEqual([
        "ALERTS",
        "ANTHROPIC_API_KEY",
        "DISCORD_BOT_TOKEN",
        "OPENAI_API_KEY",
        "SLACK_BOT_TOKEN",
        "SLACK_SIGNING_SECRET",
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_WEBHOOK_SECRET",
        "MISTRAL_API_KEY",
      ]);
      expect(JSON.parse(await ask("/readyz"))).toMatchObject({ attestation });
    },
    UPDATE_MS,
  );

  test(
    "are rotated by setting another value, and only that one is another one then",
    async () => {
      const before = await running();
      await setSecret("openaiApiKey", OPENAI_RENEWED);
      await up();

      const after = await running();
      expect(after.attestation).not.toBe(before.attestation);
      const changed = Object.keys(after.secrets).filter(
        (name) => after.secrets[name] !== before.secrets[name],
      );
      expect(changed).toEqual(["OPENAI_API_KEY"]);
      expect((await world.stack.preview()).changeSummary).not.toHaveProperty("update");
    },
    UPDATE_MS,
  );

  test(
    "stay as they are where a new one is wrong: the update fails before anything is replaced",
    async () => {
      const before = await running();
      const { versionId } = await world.stack.outputs();
      await setSecret("openaiApiKey", WRONG);
      const failure = await world.stack.up({ onOutput, onError: onOutput }).then(() => "", String);
      said.push(failure);
      expect(failure).toContain("refuses the value of steward:openaiApiKey (secret_refused)");
      const [[line = ""] = []] = waysOf(fixFor("secret_refused", failure));
      said.push(await pulumi(...line.replace("<value>", OPENAI_RENEWED).split(" ").slice(1)));
      expect(await running()).toEqual(before);
      await up();
      expect((await world.stack.outputs())["versionId"]).toEqual(versionId);
    },
    UPDATE_MS,
  );

  test(
    "are in no state, no history, no output, no log, no page and no data, in plain or in base64",
    async () => {
      const { slack } = world.platforms;
      const { url } = await world.stack.outputs();
      await fetch(`${url?.value}/slack/events`, { method: "POST", ...slack.sign(mention("hello")) });
      await slack.waitFor(({ text }) => text.includes("hello"), 60_000);
      const routes = [
        "/debug/logs",
        "/debug/processes?logs=true",
        "/debug/container-config",
        "/debug/ledger",
      ];
      const pages = ["/_admin/", "/_admin/config", "/_admin/logs", "/_admin/channels", "/metrics"];
      const answers = await Promise.all(["/readyz", "/debug/version", ...routes, ...pages].map(ask));
      const told = await Promise.all([
        pulumi("stack", "output", "--json"),
        pulumi("stack", "export"),
        pulumi("stack", "history", "--json"),
        pulumi("config", "--json"),
      ]);
      const places = new Map([
        ["the engine's output", said.join("\n")],
        ["the engine's answers", told.join("\n")],
        ["the service's answers", answers.join("\n")],
        ...(await readable(path.join(dir, "serverless"))),
      ]);

      const secrets = await allSecrets();
      expect(secrets.size).toBe(15);
      // What is looked for would be found.
      expect(leaks(await pulumi("stack", "export", "--show-secrets"), OPENAI_RENEWED)).toBe(true);
      expect(leaks(Buffer.from(`key=${OPENAI_KEY};`).toString("base64"), OPENAI_KEY)).toBe(true);
      const found = [...places].flatMap(([place, content]) =>
        [...secrets].flatMap(([name, secret]) => (leaks(content, secret) ? [`${name} in ${place}`] : [])),
      );
      expect(found).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "cannot be taken away while the config names them: the preview says where, and by which command they come back",
    async () => {
      await world.stack.removeConfig("steward:slackBotToken");
      await world.stack.removeConfig("steward:slackSigningSecret");
      const refusal = await world.stack.preview().then(() => "", String);
      expect(refusal).toContain("config_variables_missing");
      expect(refusal).toContain("channels.slack.botToken names SLACK_BOT_TOKEN");
      const printed = refusal.matchAll(/pulumi (config set -s rehearsal --secret steward:(\w+)) <value>/g);
      const lines = new Map([...printed].map(([, line = "", key = ""]) => [key, line]));
      expect([...lines.keys()].sort()).toEqual(["slackBotToken", "slackSigningSecret"]);
      const { slackBotToken, slackSigningSecret } = world.settings.secrets;
      const values = new Map(Object.entries({ slackBotToken, slackSigningSecret }));
      for (const [key, line] of lines) said.push(await pulumi(...line.split(" "), values.get(key) ?? ""));
      expect((await world.stack.preview()).changeSummary).not.toHaveProperty("delete");
    },
    UPDATE_MS,
  );

  test(
    "a config that the gateway would not start with stops the preview, which says what to repair, and where",
    async () => {
      const files = await readdir(dir, { recursive: true });
      const file = path.join(dir, files.find((name) => name.endsWith("/steward.json")) ?? "");
      const before = await readFile(file, "utf8");
      await writeFile(file, '{"agent":{"modell":"anthropic/a"}}');
      const refusal = await world.stack.preview().then(() => "", String);
      expect(refusal).toMatch(/agent: .*modell.*\(running_config_invalid\)/);
      expect(refusal).toContain("fix: Repair it on the service's page `/_admin/config`");

      await writeFile(file, before);
      expect((await world.stack.preview()).changeSummary).not.toHaveProperty("delete");
    },
    UPDATE_MS,
  );

  async function pulumi(...words: string[]): Promise<string> {
    const { pulumiCommand, workDir, envVars } = world.stack.workspace;
    if (pulumiCommand === undefined) throw new Error("the workspace has no engine");
    const args = words.includes("-s") ? words : [...words, "--stack", "rehearsal"];
    const env = { ...process.env, ...envVars };
    const options = { cwd: workDir, env, maxBuffer: 1 << 27 };
    const { stdout, stderr } = await promisify(execFile)(pulumiCommand.command, args, options);
    return stdout + stderr;
  }

  async function allSecrets(): Promise<Map<string, string>> {
    const { secrets, apiToken, passphrase } = world.settings;
    // These are public by nature, or the platform's own.
    const { discordPublicKey: _, discordApplicationId: __, discordPrivateKey: ___, ...own } = secrets;
    const state = JSON.parse(await pulumi("stack", "export", "--show-secrets"));
    const resources: { type: string; outputs: { key: { plaintext: string } } }[] = state.deployment.resources;
    const key = resources.find(({ type }) => type.endsWith("AttestationKey"))?.outputs.key.plaintext;
    return new Map(
      Object.entries({
        ...own,
        apiToken,
        passphrase,
        OPENAI_KEY,
        OPENAI_RENEWED,
        OWN_SECRET,
        ALERTS,
        WRONG,
        [ATTESTATION_KEY_VARIABLE]: JSON.parse(key ?? "null"),
      }),
    );
  }
});

/** What is there to hold secrets: the emulated account, its platforms' own stores, and the rehearsal's settings. */
const HOLDERS = /^(account\/|rehearsal\.json$|telegram\.json$|discord\.json$)/;

async function readable(folder: string): Promise<[string, string][]> {
  const files = (await filesBelow(folder)).map(([name, content]): [string, string] => [
    path.relative(folder, name),
    content.toString("latin1"),
  ]);
  return files.filter(([name]) => !HOLDERS.test(name));
}
