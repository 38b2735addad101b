import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PERSON, PRIVATE } from "../../../rehearsal/standins/telegram.ts";
import { TELEGRAM_TOKEN, telegramStandIn } from "../../support/telegram.ts";
import { deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { toolUseStream } from "../support/models.ts";
import { modelError, modelStream } from "../support/platforms.ts";
import { eventually } from "../support/processes.ts";
import { newDevice, openPage, pair } from "../support/webchat.ts";

const BO = { id: 77, is_bot: false, first_name: "Bo", username: "bo" };
const EVE = { id: 78, is_bot: false, first_name: "Eve" };
const GROUP = { id: -9, type: "supergroup", title: "Club" };

/** A gateway in which Ada is an operator and everyone else has to ask. */
async function gateway(agentKeys: object = {}, browser?: ReturnType<typeof newDevice>) {
  const { home, environment, model, url } = await surroundings();
  const telegram = await telegramStandIn();
  await mkdir(home, { recursive: true });
  if (browser !== undefined) pair(home, browser);
  const channel = {
    botToken: { env: "TELEGRAM_BOT_TOKEN" },
    dmPolicy: "pairing",
    allowFrom: [String(PERSON.id)],
    groups: { [String(GROUP.id)]: { requireMention: false } },
    streamMode: "off",
  };
  const agent = { operators: [`telegram:${PERSON.id}`], ...agentKeys };
  await writeFile(join(home, "steward.json"), JSON.stringify({ agent, channels: { telegram: channel } }));
  const variables = { TELEGRAM_BOT_TOKEN: TELEGRAM_TOKEN, TELEGRAM_API_ROOT: telegram.url };
  await startGateway({ ...environment, ...variables });
  let count = 0;
  const hand = async (payload: object, id = String((count += 1))) =>
    (await deliver(url, { id, platform: "telegram", conversation: "1", receivedAt: Date.now(), payload }))
      .answer;
  const say = (text: string, extra: object = {}) =>
    hand({ update_id: 1, message: { message_id: 7, date: 1, from: PERSON, chat: PRIVATE, text, ...extra } });
  const last = () => {
    const message = telegram.messages().at(-1);
    if (message === undefined) throw new Error("no message");
    return message;
  };
  return { telegram, model, url, hand, say, last };
}

/** The model calls the tool that asks, then ends. */
const asks = toolUseStream([
  { id: "c1", name: "ask_choices", input: { question: "Which?", choices: ["red", "blue"] } },
]);

test("an operator lets somebody in by a button, once, and nobody else can", async () => {
  const { telegram, hand, say, last } = await gateway();
  const chat = { id: BO.id, type: "private", first_name: "Bo" };
  await say("hi", { from: BO, chat });
  await say("hello?", { from: BO, chat });
  await eventually(() => telegram.messages().some(({ buttons }) => buttons.length > 0));
  const questions = telegram.messages().filter(({ buttons }) => buttons.length > 0);
  expect(questions).toMatchObject([
    { chat: String(PERSON.id), text: "Bo @bo (77) asks for access on Telegram. Let this person in?" },
  ]);
  const question = questions[0] ?? last();

  const stolen = telegram.press(question, "Let in", EVE);
  expect(await hand(stolen)).toMatchObject({ outcome: "ignored", note: "a button: another's" });
  expect(telegram.words()).toEqual(["This button is not for you."]);
  const pressed = telegram.press(question, "Let in");
  expect(await hand(pressed, "press")).toMatchObject({ outcome: "answered" });
  // Bo's own message may come before or behind it.
  expect(telegram.messages()).toContainEqual(
    expect.objectContaining({
      chat: String(PERSON.id),
      text: "Bo @bo (77) may write to me now and will be notified.",
    }),
  );
  expect(question.buttons).toEqual([]);
  const sent = telegram.messages().length;
  expect(await hand(pressed, "press")).toMatchObject({ outcome: "repeated" });
  expect(
    telegram
      .messages()
      .slice(sent)
      .filter(({ text }) => text.includes("will be notified")),
  ).toEqual([]);
  expect(await say("and now?", { from: BO, chat })).toMatchObject({ outcome: "answered" });
});

test("an operator's browser is asked, too, and its answer counts while the browser is an operator's", async () => {
  const browser = newDevice();
  const operators = [`web:${browser.deviceId}`];
  const { telegram, url, say } = await gateway({ operators }, browser);
  const chat = { id: BO.id, type: "private", first_name: "Bo" };
  await say("hi", { from: BO, chat });
  await say("hello?", { from: BO, chat });
  const page = await openPage(url, browser);
  const { items } = await page.got("welcome");
  expect(items).toMatchObject([
    { type: "choices", id: "", question: "Bo @bo (77) asks for access on Telegram. Let this person in?" },
  ]);
  const [asked] = items;
  const buttons = asked?.type === "choices" ? asked.buttons : [];
  page.send({ type: "press", id: "press-001", press: buttons[0]?.press });
  expect((await page.got("answer", "press-001")).text).toBe(
    "Bo @bo (77) may write to me now and will be notified.",
  );
  expect(page.messages.findLast(({ type }) => type === "choices")).toMatchObject({ note: "✓ Let in" });
  expect(await say("and now?", { from: BO, chat })).toMatchObject({ outcome: "answered" });
  expect(telegram.messages().filter(({ buttons: shown }) => shown.length > 0)).toEqual([]);
});

test("a choice comes as the next message of the person who was asked, and of nobody else in the group", async () => {
  const { telegram, model, hand, say, last } = await gateway();
  model.next(asks);
  await say("paint it", { chat: GROUP });
  const question = telegram.messages().find(({ buttons }) => buttons.length > 0) ?? last();
  expect(question).toMatchObject({ text: "Which?", chat: String(GROUP.id) });
  expect(question.buttons.map(({ label }) => label)).toEqual(["red", "blue"]);
  const { buttons } = question;

  expect(await hand(telegram.press(question, "red", EVE))).toMatchObject({ note: "a button: another's" });
  const first = telegram.press(question, "blue");
  question.buttons = buttons;
  const second = telegram.press(question, "red");
  expect(await hand(first)).toMatchObject({ outcome: "answered" });
  expect(model.asked().at(-1)?.at(-1)).toContain("blue");
  expect(await hand(second)).toMatchObject({ outcome: "ignored", note: "a button: used" });
  expect(telegram.words()).toEqual([
    "This button is not for you.",
    "blue",
    "This has already been answered.",
  ]);
  const unknown = { callback_query: { ...Object(second)["callback_query"], data: "made-up" }, update_id: 9 };
  expect(await hand(unknown)).toMatchObject({ note: "a button: unknown" });
});

test("a Slack thread asks with buttons, and goes on with what is pressed", async () => {
  const { home, environment, model, slack, url } = await surroundings();
  await writeConfig(home, {
    channels: { C1: { requireMention: false } },
    groupPolicy: "open",
    streamMode: "off",
  });
  await startGateway(environment);
  model.next(asks);
  expect(await deliver(url, delivery("Ev1", { text: "<@UBOT> paint it" }))).toMatchObject({ status: 200 });
  const asked = slack.calls.map(({ body }) => new URLSearchParams(body)).find((form) => form.has("blocks"));
  const [, { elements }] = JSON.parse(asked?.get("blocks") ?? '[{}, { "elements": [] }]');
  const press = (user: string, id: string) =>
    deliver(url, {
      ...delivery(id),
      payload: {
        type: "block_actions",
        user: { id: user },
        channel: { id: "C1" },
        message: { ts: "1.1", thread_ts: "100.1", text: "Which?" },
        actions: [{ action_ts: id, value: elements[1].value }],
      },
    });
  expect(await press("U2", "1")).toMatchObject({ answer: { note: "a button: another's" } });
  expect(await press("U1", "2")).toMatchObject({ answer: { outcome: "answered" } });
  expect(model.asked().at(-1)?.at(-1)).toContain("blue");
  expect(slack.posts().at(-1)).toMatchObject({ channel: "C1", thread: "100.1" });
});

test("a long answer is there as a file, by a button behind it", async () => {
  const { telegram, model, hand, say, last } = await gateway();
  const answer = Array.from({ length: 4_000 }, (_, at) => `w${at}`).join(" ");
  model.next(modelStream(answer));
  await say("explain");
  expect(last()).toMatchObject({ text: "The complete answer as a file:" });
  expect(await hand(telegram.press(last(), "As a file"))).toMatchObject({ outcome: "answered" });
  expect(last()).toMatchObject({ text: "[document: answer.md]" });
});

test("a failure has a button that asks again, and a delay one that stops the answer", async () => {
  const { telegram, model, hand, say, last } = await gateway({ noticeAfter: "1s" });
  model.next(modelError(400, "invalid_request_error", "no"));
  expect(await say("is it me?")).toMatchObject({ outcome: "failed" });
  expect(last().buttons.map(({ label }) => label)).toEqual(["Try again"]);
  expect(await hand(telegram.press(last(), "Try again"))).toMatchObject({ outcome: "answered" });
  expect(model.asked().at(-1)?.at(-1)).toContain("is it me?");

  model.next(modelStream("too late", { delayMs: 60_000 }));
  const slow = say("take your time");
  const notice = await eventually(() =>
    telegram.messages().find(({ buttons }) => buttons[0]?.label === "Stop"),
  );
  await hand(telegram.press(notice, "Stop"));
  expect(await slow).toMatchObject({ outcome: "ignored", note: "stopped" });
});
