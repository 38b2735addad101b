import { describe, expect, it } from "vitest";
import type { AlertSettings } from "../../../runtime/contract/alerts.ts";
import { parseAlerts } from "../../../runtime/contract/alerts.ts";
import type { GatewayStatus, SandboxStatus } from "../../../runtime/contract/control.ts";
import { reason } from "../../../runtime/contract/errors.ts";
import { readEdgeSettings } from "../../../runtime/contract/environment.ts";
import { hmacHex } from "../../../runtime/contract/digest.ts";
import { Alerts, tryAlerts, type AlertsOptions } from "../../../runtime/edge/alerts.ts";
import type { BackupsStatus } from "../../../runtime/edge/ports.ts";

/** A gateway's report about itself, of which alerts read a part. */
const NOTHING = {
  model: { id: "anthropic/x" },
  models: [],
  channels: [],
  counts: {},
  schedules: { count: 0, missed: 0 },
  config: { loadedAt: "" },
  usage: [],
};
const MINUTE = 60_000;
const KEY = "signing-key-0123456789";
const WEBHOOK = "https://alerts.example.com/hook?token=secret-of-the-address";
const SLACK = "https://hooks.slack.com/services/T0/B0/secret-of-the-address";
const SETTINGS: AlertSettings = {
  name: "prod",
  webhook: WEBHOOK,
  signingKey: KEY,
  slack: SLACK,
  after: "5m",
};

/** Alerts over a deployment that a test sets, and what was sent. */
function deployment(
  settings: AlertSettings = SETTINGS,
  { neverSleeps = false, sendEmail }: Pick<Partial<AlertsOptions>, "neverSleeps" | "sendEmail"> = {},
) {
  const world = {
    now: 1_795_000_000_000,
    state: "ready" as SandboxStatus["state"],
    details: {} as Partial<GatewayStatus>,
    backups: {} as BackupsStatus,
    oldest: undefined as number | undefined,
    kept: undefined as string | undefined,
    status: 200,
  };
  const sent: { url: string; body: string; headers: Record<string, string> }[] = [];
  const logged: string[] = [];
  const note = (message: string, fields?: object) => void logged.push(JSON.stringify({ message, ...fields }));
  const fetch = async (url: string | URL | Request, init: RequestInit = {}) => {
    sent.push({ url: String(url), body: String(init.body), headers: init.headers as Record<string, string> });
    return new Response(null, { status: world.status });
  };
  const alerts = () =>
    new Alerts({
      settings,
      fetch,
      sendEmail,
      neverSleeps,
      clock: () => world.now,
      sandbox: {
        status: async () => ({ state: world.state, since: "", restarts: 0 }),
        peek: async () =>
          world.state === "ready" ? Response.json({ ...NOTHING, ...world.details }) : undefined,
      },
      backups: { status: async () => world.backups },
      oldestEvent: () => world.oldest,
      memory: { read: () => world.kept, write: (text) => void (world.kept = text) },
      log: { debug: note, info: note, warn: note, error: note },
    });
  /** Looks every minute for so long, as after a restart each time. */
  const pass = async (minutes: number): Promise<void> => {
    for (let count = 0; count < minutes; count += 1) {
      await alerts().look();
      world.now += MINUTE;
    }
  };
  const told = (): { state: string; subject: string; code?: string }[] =>
    sent.filter(({ url }) => url === WEBHOOK).flatMap(({ body }) => JSON.parse(body).alerts);
  return { world, sent, logged, alerts, pass, told, fetch };
}

describe("an outage", () => {
  it("is a stopped container where it is to run always, and none where it sleeps", async () => {
    const asleep = deployment();
    asleep.world.state = "stopped";
    await asleep.pass(10);
    expect(asleep.told()).toEqual([]);

    const always = deployment(SETTINGS, { neverSleeps: true });
    always.world.state = "stopped";
    await always.pass(10);
    expect(always.told()).toMatchObject([
      { state: "failing", subject: "gateway", code: "gateway_not_ready" },
    ]);
  });

  it("is told once when it has lasted, again after six hours, and when it is over", async () => {
    const { world, pass, told } = deployment();
    await pass(3);
    world.state = "crash-looping";
    await pass(5);
    expect(told()).toEqual([]);
    await pass(60);
    expect(told()).toMatchObject([{ state: "failing", subject: "gateway", code: "gateway_not_ready" }]);
    await pass(6 * 60);
    expect(told()).toHaveLength(2);
    world.state = "ready";
    await pass(2);
    expect(told().at(-1)).toMatchObject({ state: "recovered", subject: "gateway" });
    await pass(30);
    expect(told()).toHaveLength(3);
  });

  it("is a limit of tokens that a chat has reached, until it has tokens again", async () => {
    const { world, pass, told } = deployment();
    world.details = { limited: 2 };
    await pass(20);
    world.details = { limited: 0 };
    await pass(2);
    expect(told().map(({ state, subject, code }) => [state, subject, code])).toEqual([
      ["failing", "limits", "token_limit_reached"],
      ["recovered", "limits", "token_limit_reached"],
    ]);
  });

  it("that is over before it has lasted is told to nobody", async () => {
    const { world, pass, told } = deployment();
    for (let round = 0; round < 10; round += 1) {
      world.state = "starting";
      await pass(3);
      world.state = "ready";
      await pass(1);
    }
    expect(told()).toEqual([]);
  });

  it("of model, channels, backups and events is one message, and tells no text of anybody", async () => {
    const { world, pass, sent, told } = deployment();
    const why = reason("model_key_invalid", "what the provider wrote");
    world.details = {
      models: [{ id: "anthropic/x", state: "failing", reason: why }],
      channels: [{ platform: "slack", state: "failing", reason: reason("slack_token_expired") }],
    };
    world.backups = { problem: reason("backup_failed", "what the disk said") };
    world.oldest = world.now;
    await pass(6);
    expect(told().map(({ subject, code }) => [subject, code])).toEqual([
      ["backups", "backup_failed"],
      ["events", "events_waiting"],
      ["models", "model_key_invalid"],
      ["channel slack", "slack_token_expired"],
    ]);
    expect(sent).toHaveLength(2);
    expect(JSON.stringify(sent)).not.toContain("what the");
    // A container that is asleep says nothing of them; that is no recovery.
    world.state = "stopped";
    await pass(30);
    expect(told().filter(({ state, subject }) => state === "recovered" && subject === "models")).toEqual([]);
  });

  it("of one model among several is none", async () => {
    const { world, pass, told } = deployment();
    world.details = {
      models: [
        { id: "a/x", state: "failing", reason: reason("model_key_invalid") },
        { id: "b/y", state: "ready" },
      ],
    };
    await pass(30);
    expect(told()).toEqual([]);
  });

  it("that no destination takes is told at the next look, and no address is in the log", async () => {
    const { world, pass, told, logged } = deployment();
    world.state = "crash-looping";
    world.status = 500;
    await pass(8);
    world.status = 200;
    const before = told().length;
    await pass(3);
    expect(told()).toHaveLength(before + 1);
    expect(logged.join()).toContain("webhook: answered with 500");
    expect(logged.join()).not.toContain("secret-of-the-address");
  });
});

it("a webhook's message is signed over its time and its body, and Slack's has no markup of its own", async () => {
  const { world, pass, sent } = deployment({ ...SETTINGS, name: "<prod> & co" });
  world.state = "crash-looping";
  await pass(6);
  const hook = sent.find(({ url }) => url === WEBHOOK);
  const slack = sent.find(({ url }) => url === SLACK);
  const [, seconds = "", mac = ""] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(hook?.headers["x-steward-signature"] ?? "") ?? [];
  expect(mac).toBe(await hmacHex(KEY, `${seconds}.${hook?.body}`));
  expect(JSON.parse(slack?.body ?? "").text).toMatch(/^\*&lt;prod&gt; &amp; co\*\n:red_circle: gateway: /);
});

it("is tried by a message that says so, and names who did not take it", async () => {
  const { world, fetch, sent } = deployment();
  const sender = { settings: SETTINGS, fetch, clock: () => world.now };
  expect(await tryAlerts(sender)).toEqual([]);
  expect(JSON.parse(sent.find(({ url }) => url === WEBHOOK)?.body ?? "").alerts).toMatchObject([
    { state: "test" },
  ]);
  world.status = 404;
  expect(await tryAlerts(sender)).toEqual(["webhook: answered with 404", "slack: answered with 404"]);
});

it("goes out by e-mail where the platform sends one, and tells no address of one that was not taken", async () => {
  const email = { from: "steward@acme.dev", to: "ops@acme.dev" };
  const settings: AlertSettings = { name: "prod", email, after: "5m" };
  const emails: object[] = [];
  const sendEmail = async (one: object): Promise<void> => void emails.push(one);
  const { world, fetch, pass } = deployment(settings, { sendEmail });
  const sender = { settings, fetch, clock: () => world.now };
  expect(await tryAlerts({ ...sender, sendEmail })).toEqual([]);
  const since = new Date(world.now).toISOString();
  world.state = "crash-looping";
  await pass(7);
  world.state = "ready";
  await pass(1);
  expect(emails).toMatchObject([
    { ...email, subject: "prod: a test of alerts" },
    {
      subject: "prod: gateway fails",
      text: expect.stringContaining(`gateway has been failing since ${since}: `),
    },
    { subject: "prod: gateway has recovered", text: "gateway has recovered.\n" },
  ]);

  const refused = () => Promise.reject(new Error("destination ops@acme.dev is not verified"));
  for (const [sent, problem] of [
    [refused, "email: Cloudflare refused the message"],
    [undefined, "email: this deployment cannot send e-mail"],
  ] as const) {
    const problems = (await tryAlerts({ ...sender, sendEmail: sent })).join("\n");
    expect(problems).toContain(problem);
    expect(problems).not.toContain("acme.dev");
  }
});

describe("ALERTS", () => {
  it.each<[string, boolean]>([
    [JSON.stringify({ slack: SLACK }), true],
    [JSON.stringify({ webhook: WEBHOOK, signingKey: KEY, after: "30s" }), true],
    [JSON.stringify({ email: { from: "steward@acme.dev", to: "ops@acme.dev" } }), true],
    [JSON.stringify({ email: { from: "steward", to: "ops@acme.dev" } }), false],
    [JSON.stringify({}), false],
    [JSON.stringify({ webhook: WEBHOOK }), false],
    [JSON.stringify({ slack: "ftp://x.example" }), false],
    [JSON.stringify({ slack: SLACK, after: "never" }), false],
    [JSON.stringify({ slack: SLACK, mail: "op@example.com" }), false],
    ["slack", false],
  ])("%s", (text, taken) => {
    expect(parseAlerts(text) !== undefined).toBe(taken);
    const settings = readEdgeSettings({ ALERTS: text });
    expect(settings.ok).toBe(taken);
    expect(JSON.stringify(settings)).not.toMatch(taken ? /^$/ : /secret-of-the-address/);
  });
});
