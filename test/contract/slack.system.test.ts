import { onTestFinished, expect, test } from "vitest";
import { startModel } from "../../rehearsal/standins/model.ts";
import { direct, edit, mention, remove } from "../../rehearsal/standins/slack.ts";
import { eventually } from "../runtime/support/processes.ts";
import { startHost } from "../support/host.ts";

const LONG_MS = 20_000;
const secret = (name: string) => ({ env: name });

/** A host that anybody may write to, and whose model begins to answer after `silence.ms`; it counts what it was asked. */
async function host() {
  const silence = { ms: 0, asked: 0 };
  const model = await startModel({
    hostname: "127.0.0.1",
    port: 0,
    apiKey: "sk-ant-test-0123456789abcdef",
    delayMs() {
      silence.asked += 1;
      return silence.ms;
    },
  });
  onTestFinished(() => model.close());
  const channel = { botToken: secret("SLACK_BOT_TOKEN"), signingSecret: secret("SLACK_SIGNING_SECRET") };
  const all = await startHost({
    environment: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "sk-ant-test-0123456789abcdef" },
    config: { channels: { slack: { ...channel, dmPolicy: "open", allowFrom: ["*"] } } },
  });
  onTestFinished(all.stop);
  await all.inState("ready");
  const rows = async () => {
    const response = await all.request("/debug/ledger", all.admin);
    const { entries } = (await response.json()) as { entries: { state: string; note?: string }[] };
    return entries.map(({ state, note = "" }) => `${state}: ${note}`).toReversed();
  };
  return { ...all, silence, rows };
}

test("an edit and a deletion before the first word change what is answered; what nobody sees leaves no row", async () => {
  const { slack, postSlack, silence, rows } = await host();
  silence.ms = 60_000;
  const asked = direct("two plus two");
  await postSlack(asked);
  await eventually(async () => silence.asked === 1);
  silence.ms = 0;
  await postSlack(edit(asked, "two plus three"));
  await slack.waitFor(({ text }) => text.includes("two plus three"), LONG_MS);

  silence.ms = 60_000;
  const regretted = direct("never mind me");
  await postSlack(regretted);
  await eventually(async () => silence.asked === 3);
  await postSlack(remove(regretted));
  await eventually(async () => (await rows()).every((row) => /^(?:answered|ignored)/.test(row)));
  silence.ms = 0;

  // A preview of a link, an edit of what was never seen, and a deletion of what was answered.
  await postSlack(edit(asked, "two plus three"));
  await postSlack(edit(direct("unseen"), "still unseen"));
  await postSlack(remove(asked));
  const last = direct("the end");
  await postSlack(last);
  await slack.waitFor(({ text }) => text.includes("the end"), LONG_MS);
  await eventually(async () => (await rows()).every((row) => /^(?:answered|ignored)/.test(row)));
  expect(await rows()).toEqual([
    "answered: answered",
    "ignored: edit: the text was replaced",
    "ignored: deleted before it was answered",
    "ignored: deletion: the message is not answered",
    "answered: answered",
  ]);
  expect(slack.messages().map(({ text }) => text)).toHaveLength(2);
});

test("a mention that is edited is no new question: it changes the one that waits, and is answered once", async () => {
  const { slack, postSlack, silence, rows } = await host();
  silence.ms = 60_000;
  const asked = mention("two plus two");
  await postSlack(asked);
  await eventually(async () => silence.asked === 1);
  silence.ms = 0;
  await postSlack(edit(asked, "two plus three"));
  await slack.waitFor(({ text }) => text.includes("two plus three"), LONG_MS);
  await eventually(async () => (await rows()).every((row) => /^(?:answered|ignored)/.test(row)));
  expect(await rows()).toEqual(["answered: answered", "ignored: edit: the text was replaced"]);
  expect(slack.messages()).toMatchObject([{ threadTs: asked.event.ts }]);
});
