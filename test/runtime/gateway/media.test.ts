import { expect, test } from "vitest";
import type { Question } from "../../../runtime/gateway/agent/agent.ts";
import type { Attachment } from "../../../runtime/gateway/channels/channel.ts";
import { deliveriesOver, message } from "../support/deliveries.ts";
import { eventually } from "../support/processes.ts";

// The first bytes: https://www.w3.org/TR/png-3/#5PNG-file-signature and section 3.1 of RFC 9649 (WebP).
const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");
const WEBP = Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1");

const image = (reference: string, more: Partial<Attachment> = {}): Attachment => ({
  kind: "image",
  name: `${reference}.png`,
  sizeBytes: 10,
  reference,
  ...more,
});

/** What the agent is asked when messages come with these files. */
async function ask(
  attachments: Attachment[],
  load: (attachment: Attachment) => Promise<Uint8Array>,
  text = "look",
) {
  const questions: Question[] = [];
  const all = await deliveriesOver(
    async (question) => {
      questions.push(question);
      return { text: "ok", delivery: "1" };
    },
    { load },
  );
  await all.inbox.deliver(message("1", text, { attachments }));
  return questions[0]?.messages[0];
}

test("images reach the agent by what they are, not by what they are called", async () => {
  const asked = await ask([image("a"), image("b", { mediaType: "image/png" })], async ({ reference }) =>
    reference === "a" ? PNG : WEBP,
  );

  expect(asked?.images.map(({ mediaType }) => mediaType)).toEqual(["image/png", "image/webp"]);
  expect(asked?.text).toBe("look\n[image: a.png]\n[image: b.png]");
});

test("what is no image, too large, broken or unknown stays a line in the text", async () => {
  const loaded: string[] = [];
  const asked = await ask(
    [
      { kind: "file", name: "report.pdf", sizeBytes: 1_234_567, reference: "f" },
      { kind: "audio", reference: "v" },
      { kind: "video", name: "a]\n[b\n", sizeBytes: 12_345, reference: "m" },
      image("large", { sizeBytes: 7_100_000 }),
      image("lied", { sizeBytes: 5 }),
      image("gone"),
      image("text"),
    ],
    async ({ reference }) => {
      loaded.push(reference);
      if (reference === "gone") throw new Error("404");
      return reference === "lied" ? Buffer.concat([PNG, Buffer.alloc(2_000)]) : Buffer.from("no image");
    },
    "",
  );

  expect(asked?.images).toEqual([]);
  expect(asked?.text.split("\n")).toEqual([
    "[file: report.pdf, 1.2 MB, not read]",
    "[audio, not read]",
    "[video: a b, 12 kB, not read]",
    "[image: large.png, 7.1 MB, not read]",
    "[image: lied.png, 5 B, not read]",
    "[image: gone.png, 10 B, not read]",
    "[image: text.png, 10 B, not read]",
  ]);
  expect(loaded).toEqual(["lied", "gone", "text"]);
});

test("four images are fetched, side by side", async () => {
  let open = 0;
  let most = 0;
  const asked = await ask(
    ["a", "b", "c", "d", "e"].map((name) => image(name)),
    async () => {
      most = Math.max(most, (open += 1));
      await new Promise((resolve) => setTimeout(resolve, 50));
      open -= 1;
      return PNG;
    },
  );

  expect(most).toBe(4);
  expect(asked?.images).toHaveLength(4);
  expect(asked?.text).toContain("[image: d.png]\n[image: e.png, 10 B, not read]");
});

test("a group's message that was not for the bot is kept as context, as many as the config says", async () => {
  const all = await deliveriesOver(async () => ({ text: "ok", delivery: "9" }));
  const attachments = [{ kind: "file", name: "a.txt", reference: "f" }];
  for (const id of ["1", "2"]) {
    const event = message(id, `m${id}`, { kind: "context", direct: false, attachments });
    expect(await all.inbox.deliver(event)).toMatchObject({ outcome: "ignored" });
  }

  expect(all.calls).toEqual([]);
  expect(
    all.context.mock.calls.map(([conversation, { delivery, text }, keep]) => [
      conversation,
      delivery,
      text,
      keep,
    ]),
  ).toEqual([
    ["telegram:1", "1", "m1\n[file: a.txt, not read]", 2],
    ["telegram:1", "2", "m2\n[file: a.txt, not read]", 2],
  ]);
});

test("where nothing will be said the platform is told so", async () => {
  const all = await deliveriesOver(async ({ messages }) => {
    if (messages.length === 1) await eventually(() => all.inbox.active === 3);
    return { text: "ok", delivery: messages.at(-1)?.delivery ?? "" };
  });
  const { inbox } = all;
  const strangers = ["U1", "U2", "U3", "U4"].map((sender) =>
    inbox.deliver(
      message(sender, "", { kind: "unpaired", sender, target: { chat: sender, thread: sender } }),
    ),
  );
  await Promise.all(strangers);
  expect(all.calls.filter((call) => call.startsWith("dismiss"))).toEqual([]);

  const ask = (id: string) => inbox.deliver(message(id, id, { target: { chat: "1", thread: `t${id}` } }));
  const first = ask("1");
  await eventually(() => all.calls.at(-1) === "typing");
  const burst = [first, ask("2"), ask("3")];
  expect((await Promise.all(burst))[1]).toEqual({ outcome: "answered", note: "answered together with 3" });
  expect(all.calls.slice(-4)).toEqual(["send@t1 ok", "typing", "send@t3 ok", "dismiss t2"]);
});
