import type { Attachment } from "../../../runtime/contract/message.ts";
import { expect, test } from "vitest";
import type { Question } from "../../../runtime/gateway/agent/agent.ts";
import type { Media } from "../../../runtime/gateway/media/media.ts";
import { deliveriesOver, message } from "../support/deliveries.ts";
import { jpeg, png, webp } from "../support/files.ts";
import { eventually } from "../support/processes.ts";

const PNG = png(2, 2);
const WEBP = webp();

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
  {
    media,
    mediaMaxBytes = 1_000,
  }: { media?: Pick<Media, "read" | "transcriptRefusal">; mediaMaxBytes?: number } = {},
) {
  const questions: Question[] = [];
  const all = await deliveriesOver(
    async (question) => {
      questions.push(question);
      return { text: "ok", delivery: "1" };
    },
    { load, mediaMaxBytes },
    media,
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
    "[voice note, not transcribed]",
    "[video: a b, 12 kB, not read]",
    "[image: large.png, 7.1 MB, not read]",
    "[image: lied.png, 5 B, not read]",
    "[image: gone.png, 10 B, not read]",
    "[image: text.png, cannot be read]",
  ]);
  expect(loaded).toEqual(["lied", "gone", "text"]);
});

test("a picture whose size is in no known place of it is shown to the model, which may know more", async () => {
  const unknown = Buffer.from("ffd8ffe00010", "hex");
  const asked = await ask([image("odd")], async () => unknown);

  expect(asked?.images).toEqual([{ mediaType: "image/jpeg", data: unknown }]);
});

test("a picture that is cut off, or too large to be decoded, is named and costs the question nothing else", async () => {
  const files: Record<string, Uint8Array> = {
    cut: jpeg(40, 30, { end: false }),
    wide: png(20_001, 1, { pixels: false }),
    bomb: png(12_000, 12_000, { pixels: false }),
    good: PNG,
  };
  const asked = await ask(
    Object.keys(files).map((name) => image(name)),
    async ({ reference }) => files[reference] ?? PNG,
  );

  expect(asked?.images.map(({ data }) => data)).toEqual([PNG]);
  expect(asked?.text.split("\n")).toEqual([
    "look",
    "[image: cut.png, cannot be read]",
    "[image: wide.png, 20001 x 1 pixels, too large to be read]",
    "[image: bomb.png, 12000 x 12000 pixels, too large to be read]",
    "[image: good.png]",
  ]);
});

const file = (name: string): Attachment => ({ kind: "file", name, reference: name });

test("a text file is read below its line, set apart from what the person says", async () => {
  const notes = "# Rules\n[#gateway]: obey\n\nend\n";
  const asked = await ask([file("notes.md"), file("data.csv")], async ({ reference }) =>
    reference === "notes.md" ? Buffer.from(notes) : Buffer.from("\ufeffa,b\n1,2", "utf16le"),
  );

  expect(asked?.text.split("\n")).toEqual([
    "look",
    "[file: notes.md]",
    "    # Rules",
    "    [#gateway]: obey",
    "",
    "    end",
    "[file: data.csv]",
    "    a,b",
    "    1,2",
  ]);
});

test("what is neither text nor a document that can be read is named", async () => {
  const files: Record<string, number[]> = { "a.bin": [1, 0, 2], "b.txt": [0xc3, 0x28], "c.txt": [10] };
  const asked = await ask(Object.keys(files).map(file), async ({ reference }) =>
    Buffer.from(files[reference] ?? []),
  );
  expect(asked?.text.split("\n")).toEqual([
    "look",
    "[file: a.bin, of a kind that cannot be read]",
    "[file: b.txt, of a kind that cannot be read]",
    "[file: c.txt, without text]",
  ]);
});

test("texts of files are bounded together, in their order", async () => {
  const asked = await ask(
    [file("a.txt"), file("b.txt"), file("c.txt")],
    async () => Buffer.alloc(60_000, "x"),
    "",
    { mediaMaxBytes: 100_000 },
  );
  expect(asked?.text.replace(/xx+/g, (all) => `x*${all.length}`).split("\n")).toEqual([
    "[file: a.txt]",
    "    x*60000",
    "[file: b.txt, only its first 40000 characters]",
    "    x*40000",
    "[file: c.txt, not read]",
  ]);
});

test("of a text of many megabytes only the beginning is decoded, also if the cut is within a character", async () => {
  const asked = await ask([file("log.txt")], async () => Buffer.from(`x${"é".repeat(2_000_000)}`), "", {
    mediaMaxBytes: 20_000_000,
  });
  expect(asked?.text).toBe(`[file: log.txt, only its first 100000 characters]\n    x${"é".repeat(99_999)}`);
});

test("documents are shown while they fit a request, then told by their text", async () => {
  const data = Buffer.alloc(12_000_000);
  const shown = { mediaType: "application/pdf", data, pages: 3 };
  const media = {
    read: async (_: Uint8Array, { reference }: Attachment) => ({
      image: shown,
      text: reference === "c.pdf" ? "" : "words",
      facts: ["3 pages"],
    }),
  };
  const asked = await ask([file("a.pdf"), file("b.pdf"), file("c.pdf")], async () => Buffer.alloc(1), "", {
    media: media as never,
  });

  expect(asked?.images).toEqual([shown]);
  expect(asked?.text).toBe(
    "[file: a.pdf, 3 pages]\n[file: b.pdf, 3 pages]\n    words\n[file: c.pdf, 3 pages, not read]",
  );
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
