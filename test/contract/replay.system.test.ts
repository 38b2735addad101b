import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { askAsStack } from "../../infra/readiness/ask-as-stack.ts";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { replayRecordSchema } from "../../runtime/contract/replay.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { replayPast } from "../../stacks/commands/rollout/replay.ts";
import { temporaryDirectory } from "../runtime/support/processes.ts";
import { startService, startSurroundings } from "../support/service.ts";
import { startWorker } from "../support/worker.ts";

const KEY = "the-attestation-key-of-the-stack";
const SECRET_WORDS = "my password is Rumpelstilzchen";

/** Asks a service that has answered this message for its record, and checks that nobody can read the message in it. */
async function recordOf(url: string) {
  const response = await askAsStack({ url, key: KEY, route: ROUTES.stackReplay, timeoutMs: 60_000 });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(text).not.toMatch(/password|Rumpelstilzchen/i);
  return replayRecordSchema.parse(JSON.parse(text));
}

/** The outcome of a mention in a channel, and that the deployable code agrees about it. */
async function expectReplay(url: string): Promise<void> {
  const record = await recordOf(url);
  expect(record.left).toEqual({ tooLarge: 0, unread: 0, changed: 0 });
  expect(record.events).toEqual([
    {
      platform: "slack",
      payload: expect.objectContaining({ type: "event_callback" }),
      outcome: { kind: "message", admitted: "group" },
    },
  ]);
  expect(await replayPast(async () => record)).toMatchObject({
    compared: { events: 1, running: { understood: 1 }, next: { understood: 1 }, changes: [] },
  });
  const { slack } = record.readings;
  if (slack === undefined) throw new Error("the record has no rules of Slack");
  const stricter = { slack: { ...slack, rules: { ...slack.rules, groupPolicy: "disabled" as const } } };
  expect(await replayPast(async () => ({ ...record, readings: stricter }))).toMatchObject({
    compared: { changes: [{ from: "message (group)", to: "ignored", events: 1 }] },
  });
}

async function codeOf(url: string): Promise<unknown> {
  const response = await askAsStack({ url, key: KEY, route: ROUTES.stackReplay, timeoutMs: 60_000 });
  return ((await response.json()) as { code?: unknown }).code;
}

test("a host gives the stack a redacted record of its events if the operator allows it", async () => {
  const { slack, environment, close } = await startSurroundings();
  onTestFinished(close);
  const { dir } = (await buildBundle()).container;
  const home = await temporaryDirectory();
  const start = (variables: Record<string, string>) =>
    startService(dir, "host/main.js", home, { ...environment, ATTESTATION_KEY: KEY, ...variables });

  const first = await start({});
  await fetch(`${first.url}/slack/events`, { method: "POST", ...slack.sign(mention(SECRET_WORDS)) });
  await slack.waitFor(({ text }) => text.includes("Rumpelstilzchen"), 20_000);
  expect(await codeOf(first.url)).toBe("replay_not_allowed");
  await first.stop();
  const second = await start({ REPLAY_EVENTS: "100" });
  await expectReplay(second.url);
  await second.stop();
});

test("a Worker gives the stack a redacted record of its events, and starts its container for it", async () => {
  const service = await startWorker({
    ATTESTATION_KEY: KEY,
    REPLAY_EVENTS: "100",
    SANDBOX_SLEEP_AFTER: "8s",
  });
  onTestFinished(service.stop);
  await service.postSlack(mention(SECRET_WORDS));
  await service.slack.waitFor(({ text }) => text.includes("Rumpelstilzchen"), 60_000);
  await service.inState("stopped");
  expect(await codeOf(await service.origin())).toBe("gateway_unavailable");
  await service.inState("ready");
  await expectReplay(await service.origin());
}, 180_000);

test("the program that a rollout runs has no code that reaches a network or another program", async () => {
  const { dir } = (await buildBundle()).container;
  const code = await readFile(join(dir, "gateway/replay/main.js"), "utf8");
  const modules = [...code.matchAll(/"node:([a-z_/]+)"/g)].map(([, name]) => name);
  expect([...new Set(modules)].sort()).toEqual(["fs", "module", "sqlite", "stream/consumers"]);
  expect(code.match(/\bfetch\(|new WebSocket|\bimport\(/g)).toBeNull();
  const words = ["--permission", `--allow-fs-read=${join(dir, "*")}`, join(dir, "gateway/replay/main.js")];
  const ended = await runProcess(process.execPath, words, { env: {}, input: "{}" });
  expect([ended.code, ended.stdout]).toEqual([1, ""]);
});
