import { expect, test } from "vitest";
import { startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { modelError, modelStream } from "../support/platforms.ts";
import { steward } from "../support/cli.ts";
import { newDevice, openPage, pair } from "../support/webchat.ts";

/** A conversation's id, as a page makes it. */
const OTHER = "conversation-2";

/** A gateway with a paired browser. */
async function started() {
  const around = await surroundings();
  await writeConfig(around.home);
  const gateway = await startGateway(around.environment);
  const device = newDevice();
  pair(around.home, device);
  const open = async () => {
    const page = await openPage(around.url, device);
    return { ...page, welcome: await page.got("welcome") };
  };
  /** The texts of a model's last request. */
  const asked = () => around.model.asked().at(-1);
  return { ...around, gateway, device, open, asked };
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof started>>["open"]>>;

/** Says something, and waits for its answer. */
async function say(page: Page, id: string, text: string, more: object = {}) {
  page.send({ type: "say", id, text, ...more });
  return page.got("answer", id);
}

/** Opens a conversation again, on a connection of its own. */
async function history(open: () => Promise<Page>, conversation: string) {
  const page = await open();
  page.send({ type: "open", conversation });
  return page.got("opened");
}

/** Words that come one by one, so that a part of them is shown. */
const slowly = (first: string) => modelStream(first, { stall: true });

test("stop keeps the text so far, marked as stopped, and answers what waits behind it", async () => {
  const { open, model, asked, gateway, environment } = await started();
  const page = await open();
  model.next(slowly("one two three"));
  page.send({ type: "say", id: "message-1", text: "count" });
  await page.got("text", "message-1");
  page.send({ type: "say", id: "message-2", text: "and then?" });
  await page.got("accepted", "message-2");
  page.send({ type: "stop", id: "message-1" });
  expect(await page.got("answer", "message-1")).toMatchObject({
    text: expect.stringMatching(/^one/),
    stopped: true,
  });
  expect((await page.got("answer", "message-2")).text).toBe("You said: and then?");
  expect(asked()).toEqual(["user: count", expect.stringMatching(/^assistant: one/), "user: and then?"]);
  // It is settled: also for a page that says it again, also after a restart.
  gateway.kill("SIGTERM");
  await gateway.exited;
  await startGateway(environment);
  const later = await open();
  expect(later.welcome.history).toMatchObject([
    { id: "message-1", role: "user" },
    { id: "message-1", role: "assistant", stopped: true },
    { id: "message-2", role: "user" },
    { id: "message-2", role: "assistant" },
  ]);
  expect(later.welcome.history[3]).not.toHaveProperty("stopped");
  expect(await say(later, "message-1", "count")).toMatchObject({ stopped: true });
  expect(model.calls).toHaveLength(2);
});

test("an answer that is stopped before its first word is settled as well", async () => {
  const { open, model } = await started();
  const page = await open();
  model.next(modelStream("too late", { delayMs: 20_000 }));
  page.send({ type: "say", id: "message-1", text: "think long" });
  await page.got("typing", "message-1");
  await expect.poll(() => model.calls.length).toBe(1);
  page.send({ type: "stop", id: "message-1" });
  expect(await page.got("answer", "message-1")).toMatchObject({ text: "", stopped: true });
  expect(await say(await open(), "message-1", "think long")).toMatchObject({ text: "", stopped: true });
  expect(model.calls).toHaveLength(1);
});

test("a waiting message is shown to a page that connects, and can be withdrawn before it starts", async () => {
  const { open, model } = await started();
  const page = await open();
  model.next(slowly("one"));
  page.send({ type: "say", id: "message-1", text: "count" });
  await page.got("text", "message-1");
  page.send({ type: "say", id: "message-2", text: "never mind" });
  page.send({ type: "say", id: "message-3", text: "this one" });
  await page.got("accepted", "message-3");
  expect((await open()).welcome).toMatchObject({
    running: ["message-1", "message-2", "message-3"],
    waiting: [
      { id: "message-2", text: "never mind" },
      { id: "message-3", text: "this one" },
    ],
  });
  page.send({ type: "stop", id: "message-2" });
  await page.got("removed", "message-2");
  page.send({ type: "stop", id: "message-1" });
  await page.got("answer", "message-3");
  expect(JSON.stringify(model.calls.at(-1)?.body)).not.toContain("never mind");
  const later = await open();
  later.send({ type: "say", id: "message-2", text: "never mind" });
  await later.got("removed", "message-2");
  expect(model.calls).toHaveLength(2);
});

test("the last message is edited or answered again: the model sees the new one in place of the old", async () => {
  const { open, model, asked } = await started();
  const page = await open();
  await say(page, "message-1", "first");
  await say(page, "message-2", "secnod");
  await say(page, "message-3", "second", { instead: "message-2" });
  await page.got("removed", "message-2");
  expect(asked()).toEqual(["user: first", "assistant: You said: first", "user: second"]);
  expect((await open()).welcome.history.map(({ id, role }) => `${role} ${id}`)).toEqual([
    "user message-1",
    "assistant message-1",
    "user message-3",
    "assistant message-3",
  ]);
  // Neither of them is answered again, and an earlier message stays.
  page.messages.length = 0;
  page.send({ type: "say", id: "message-2", text: "secnod" });
  await page.got("removed", "message-2");
  await say(page, "message-3", "second", { instead: "message-2" });
  expect(model.calls).toHaveLength(3);
  await say(page, "message-4", "third", { instead: "message-1" });
  expect(asked()).toHaveLength(5);
});

test("a message that is being answered can be replaced, and its answer is not kept", async () => {
  const { open, model, asked } = await started();
  const page = await open();
  model.next(slowly("one two"));
  page.send({ type: "say", id: "message-1", text: "wrong" });
  await page.got("text", "message-1");
  await say(page, "message-2", "right", { instead: "message-1" });
  expect(asked()).toEqual(["user: right"]);
  expect((await open()).welcome.history).toMatchObject([{ id: "message-2" }, { id: "message-2" }]);
});

test("a failed message is answered when it is said again under its id", async () => {
  const { open, model } = await started();
  const page = await open();
  const overloaded = modelError(529, "overloaded_error", "Overloaded");
  model.next(overloaded, overloaded, overloaded);
  page.send({ type: "say", id: "message-1", text: "hello" });
  expect(await page.got("error", "message-1")).toMatchObject({ again: true });
  expect(await say(page, "message-1", "hello")).toMatchObject({ text: "You said: hello" });
  expect((await open()).welcome.history).toHaveLength(2);
});

test("a browser has several conversations, each with its own history, which it can rename, search and delete", async () => {
  const { open, asked, device, environment } = await started();
  const page = await open();
  expect(page.welcome.conversations).toEqual([]);
  await say(page, "message-1", "Where do penguins live?\nTell me all.");
  page.send({ type: "open", conversation: OTHER });
  expect(await page.got("opened")).toMatchObject({ conversation: OTHER, history: [] });
  await say(page, "message-2", "An ÜBER idea", { conversation: OTHER });
  expect(asked()).toEqual(["user: An ÜBER idea"]);
  const list = async () => (await open()).welcome.conversations;
  expect(await list()).toMatchObject([
    { id: OTHER, title: "An ÜBER idea" },
    { id: "", title: "Where do penguins live? Tell me all." },
  ]);
  expect((await steward(environment, "sessions", "list")).stdout).toContain(
    `web:${device.deviceId}:${OTHER}`,
  );

  page.send({ type: "rename", conversation: "", title: "Birds" });
  page.send({ type: "find", id: "search-1", query: "über" });
  expect((await page.got("found", "search-1")).hits).toMatchObject([
    { conversation: OTHER, title: "An ÜBER idea", excerpt: "" },
    { conversation: OTHER, excerpt: "You said: An ÜBER idea" },
    { conversation: OTHER, excerpt: "An ÜBER idea" },
  ]);
  page.send({ type: "find", id: "search-2", query: "penguins" });
  expect((await page.got("found", "search-2")).hits[0]).toMatchObject({ conversation: "", title: "Birds" });
  expect((await history(open, OTHER)).history).toHaveLength(2);

  page.send({ type: "delete", conversation: OTHER });
  await expect.poll(list).toMatchObject([{ id: "", title: "Birds" }]);
  expect((await history(open, OTHER)).history).toEqual([]);
  page.send({ type: "find", id: "search-3", query: "idea" });
  expect((await page.got("found", "search-3")).hits).toEqual([]);
});

test("a search is bounded, and never finds another browser's messages", async () => {
  const { open, url, home } = await started();
  const page = await open();
  const stranger = newDevice();
  pair(home, stranger);
  const other = await openPage(url, stranger);
  await other.got("welcome");
  other.send({ type: "say", id: "message-1", text: "the needle of another" });
  await other.got("answer", "message-1");
  for (let n = 0; n < 18; n += 1) await say(page, `message-${n}`, `needle ${n} ${"x".repeat(500)}`);
  page.send({ type: "find", id: "search-1", query: "NEEDLE" });
  const { hits } = await page.got("found", "search-1");
  expect(hits).toHaveLength(30);
  expect(hits.every(({ excerpt }) => excerpt.length < 200)).toBe(true);
  expect(JSON.stringify(hits)).not.toContain("another");
}, 60_000);

test("a page hears of another conversation when an answer ends, and nothing of it if it knows only one", async () => {
  const { open } = await started();
  const [page, other, former] = [await open(), await open(), await open()];
  other.send({ type: "open", conversation: OTHER });
  page.send({ type: "open", conversation: "" });
  await Promise.all([page.got("opened"), other.got("opened")]);
  await say(other, "message-1", "hello", { conversation: OTHER });
  expect(await page.got("answer", "message-1")).toMatchObject({ conversation: OTHER });
  expect(page.messages.some(({ type }) => type === "text" || type === "typing")).toBe(false);
  await say(former, "message-2", "as ever");
  expect(former.messages.filter((one) => "conversation" in one && one.type !== "opened")).toEqual([]);
});

test("a message of a later version changes nothing, and a known one of another form closes the socket", async () => {
  const { open } = await started();
  const page = await open();
  page.send({ type: "hologram", id: "message-1", depth: 3 });
  expect(await say(page, "message-1", "hello", { mood: "good" })).toMatchObject({ text: "You said: hello" });
  page.send({ type: "open", conversation: "../../x" });
  expect(await page.closed()).toBe(4400);
});

test("text, documents and pictures come in with a message; what is too large or unreadable is named in words", async () => {
  const { open, model } = await started();
  const page = await open();
  const file = (id: string, name: string, mediaType: string, data: string | Buffer) => {
    const base64 = Buffer.from(data).toString("base64");
    for (let at = 0; at < base64.length || at === 0; at += 24_000) {
      const part = base64.slice(at, at + 24_000);
      page.send({ type: "file", id, name, mediaType, part, ends: at + 24_000 >= base64.length });
    }
  };
  file("message-1", "plan.md", "text/markdown", "The secret word is\nalbatross.");
  file("message-1", "data.bin", "application/octet-stream", Buffer.from([0, 1, 2, 255]));
  file("message-1", "big.csv", "text/csv", Buffer.alloc(5 * 1024 * 1024 + 1, "a,b\n"));
  await say(page, "message-1", "What is the word?");
  const shown = "What is the word?\n[file: plan.md]\n[file: data.bin]\n[file: big.csv]";
  expect(await page.got("accepted", "message-1")).toMatchObject({ text: shown });
  const text = JSON.parse(model.calls.at(-1)?.body ?? "{}")
    .messages.at(-1)
    .content.at(-1).text;
  expect(text).toContain("albatross");
  expect(text).toContain("[file: data.bin, of a kind that cannot be read]");
  expect(text).toContain("[file: big.csv, 5.2 MB, not read]");
  const [question] = (await open()).welcome.history;
  expect(question).toMatchObject({
    text: "What is the word?\n[file: plan.md]\n[file: data.bin, of a kind that cannot be read]\n[file: big.csv, 5.2 MB, not read]",
    words: 17,
  });
  file("message-2", "voice.ogg", "audio/ogg", "OggS");
  expect(await say(page, "message-2", "")).toMatchObject({
    text: "I cannot listen to voice notes or audio files here. Please write to me instead.",
  });
});
