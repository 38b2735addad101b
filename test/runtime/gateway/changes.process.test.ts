import { expect, test } from "vitest";
import { toolUseStream } from "../support/models.ts";
import { modelStream } from "../support/platforms.ts";
import { deliverAll, directMessage, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { eventually } from "../support/processes.ts";
import { gate } from "../support/saying.ts";

const inner = (text: string) => ({ type: "message", user: "U1", ts: "100.1", text });
const said = (id: string, text: string) => ({ ...directMessage(id, { text }), receivedAt: Date.now() });
const edit = (id: string, text: string) => ({
  ...directMessage(id, { subtype: "message_changed", text: undefined, ts: "200.1", message: inner(text) }),
  receivedAt: Date.now(),
});
const deletion = (id: string) => ({
  ...directMessage(id, { subtype: "message_deleted", text: undefined, ts: "200.1", deleted_ts: "100.1" }),
  receivedAt: Date.now(),
});

/** A gateway that everybody may write to, and its model. */
async function open() {
  const all = await surroundings();
  await writeConfig(all.home, { dmPolicy: "open", allowFrom: ["*"] });
  const gateway = await startGateway(all.environment);
  const send = async (...deliveries: object[]) =>
    (await deliverAll(all.url, deliveries)).map(({ answer }) => answer);
  return { ...all, gateway, send };
}

test("an edit while the model is silent breaks its answer off, and the new text alone is answered", async () => {
  const { model, slack, send } = await open();
  const never = gate();
  model.next(async () => never.promise, modelStream("five"));
  const first = send(said("Ev1", "two plus two"));
  await eventually(() => model.calls.length === 1);
  const [change] = await send(edit("Ev2", "two plus three"));

  expect(await first).toMatchObject([{ outcome: "answered" }]);
  expect(change).toMatchObject({ outcome: "ignored", note: "edit: the text was replaced" });
  expect(model.asked()[1]).toEqual(["user: two plus three"]);
  expect(slack.posts().map(({ text }) => text)).toEqual(["five"]);
  never.resolve();
});

test("an edit of what was answered is answered with the former text at hand", async () => {
  const { model, send } = await open();
  await send(said("Ev1", "two plus two"));
  expect(await send(edit("Ev2", "two plus three"))).toMatchObject([{ outcome: "answered" }]);
  const mark = "[#quoted: edited, the next message takes its place, from #U1]";
  expect(model.calls[1]?.body).toContain(JSON.stringify(`${mark}: two plus two\n[#person]: two plus three`));
  expect(await send(edit("Ev3", "two plus three"))).toMatchObject([{ outcome: "ignored" }]);
});

test("an edit of an earlier question is told with the next one", async () => {
  const { model, send } = await open();
  await send(said("Ev1", "I live in Oslo"));
  await send({ ...directMessage("Ev2", { text: "thanks", ts: "100.2" }), receivedAt: Date.now() });
  await send(edit("Ev3", "I live in Bergen"));
  await send({ ...directMessage("Ev4", { text: "where?", ts: "100.3" }), receivedAt: Date.now() });
  expect(model.calls).toHaveLength(3);
  const lines = [
    "[#edited: an earlier message, from #U1]: I live in Bergen",
    "[#edited: it was]: I live in Oslo",
    "[#person]: where?",
  ];
  expect(model.calls[2]?.body).toContain(JSON.stringify(lines.join("\n")));
});

test("an edit after a tool has run is a question of its own: no tool runs twice", async () => {
  const { model, send } = await open();
  const second = gate();
  model.next(
    toolUseStream([{ id: "c1", name: "remember", input: { text: "milk" } }]),
    async (response, call) => {
      await second.promise;
      return modelStream("noted")(response, call);
    },
    modelStream("noted as well"),
  );
  const first = send(said("Ev1", "remember milk"));
  await eventually(() => model.calls.length === 2);
  const change = send(edit("Ev2", "remember bread"));
  second.resolve();
  expect(await first).toMatchObject([{ outcome: "answered" }]);
  expect(await change).toMatchObject([{ outcome: "answered" }]);
  expect(model.calls).toHaveLength(3);
});

test("a deletion while the model is silent ends the answer, also over a kill", async () => {
  const { model, slack, environment, gateway, send } = await open();
  const never = gate();
  model.next(async () => never.promise);
  const first = send(said("Ev1", "hello"));
  await eventually(() => model.calls.length === 1);
  expect(await send(deletion("Ev2"))).toMatchObject([{ outcome: "ignored" }]);
  expect(await first).toMatchObject([{ outcome: "ignored", note: "deleted before it was answered" }]);

  gateway.kill("SIGKILL");
  await gateway.exited;
  never.resolve();
  await startGateway(environment);
  expect(await send(said("Ev1", "hello"), deletion("Ev2"))).toMatchObject([
    { outcome: "repeated" },
    { outcome: "ignored" },
  ]);
  expect([model.calls.length, slack.posts()]).toEqual([1, []]);
});

test("an edit outlives a kill with the message that it changes", async () => {
  const { model, slack, environment, gateway, send } = await open();
  const never = gate();
  model.next(async () => never.promise);
  const lost = send(said("Ev1", "two plus two"), edit("Ev2", "two plus three")).catch(() => "cut off");
  await eventually(() => model.calls.length === 1);
  gateway.kill("SIGKILL");
  await Promise.all([gateway.exited, lost]);
  never.resolve();

  await startGateway(environment);
  model.next(modelStream("five"));
  expect(await send(said("Ev1", "two plus two"), edit("Ev2", "two plus three"))).toMatchObject([
    { outcome: "answered" },
    { outcome: "ignored" },
  ]);
  expect(model.asked().map((asked) => asked.at(-1))).toEqual([
    "user: two plus three",
    "user: two plus three",
  ]);
  expect(slack.posts().map(({ text }) => text)).toEqual(["five"]);
});

test("what is added before the first word is one question with what was said", async () => {
  const { model, slack, send } = await open();
  const never = gate();
  model.next(async () => never.promise, modelStream("both"));
  // However slow the machine is, the second message follows the first within the time that makes them one.
  const first = send({ ...said("Ev1", "what is this?"), receivedAt: Date.now() + 60_000 });
  await eventually(() => model.calls.length === 1);
  await send({ ...directMessage("Ev2", { text: "the red one", ts: "100.2" }), receivedAt: Date.now() });
  expect(await first).toMatchObject([{ outcome: "answered", note: "answered together with Ev2" }]);
  expect(model.asked()[1]).toEqual(["user: what is this?", "user: the red one"]);
  expect(slack.posts().map(({ text }) => text)).toEqual(["both"]);
  never.resolve();
});
