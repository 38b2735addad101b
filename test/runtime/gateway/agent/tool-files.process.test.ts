import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ModelImage, ModelMessage } from "../../../../runtime/gateway/models/model.ts";
import { imageFacts } from "../../../../runtime/gateway/media/image.ts";
import { ModelRefusal } from "../../../../runtime/gateway/models/model.ts";
import { agentBench, calls, question, says } from "../../support/agent.ts";
import { png } from "../../support/files.ts";
import { STDIO_SERVER } from "../../support/mcp.ts";

const SMALL = png(3, 2);
const OURS = { PATH: process.env["PATH"] ?? "", HOME: "/home/x" };

const image = (data: Buffer) => ({ type: "image", mimeType: "image/png", data: data.toString("base64") });
const draw = (content: object[], id = "c1") => ({ id, name: "notes_draw", input: { content } });

/** A bench with an MCP server whose tool gives what it is called with. */
async function bench(settings: object = {}) {
  const it = await agentBench({ tools: { mcp: { notes: STDIO_SERVER } }, ...settings }, OURS, {
    mostSeconds: 60,
    transcribe: async (data) => (data.byteLength === 3 ? "three bytes" : undefined),
  });
  const { answer } = it.start();
  const results = (message: ModelMessage | undefined) =>
    (message?.role === "tool" ? message.results : []).map(({ output, images = [] }) => ({ output, images }));
  /** Has the model call the tool. Returns the results that it sees. */
  const give = async (...content: object[]) => {
    it.next(calls(draw(content)));
    await answer(question(`Ev${it.asked.length}`));
    return results(it.asked.at(-1)?.messages.at(-1))[0] ?? { output: "", images: [] };
  };
  return { ...it, answer, give, results };
}

test("a picture of a tool is shown to the model, and kept in the chat's folder, whence it can be sent", async () => {
  const { give, home, next, answer, files } = await bench();
  const { output, images } = await give({ type: "text", text: "Drawn." }, image(SMALL));

  const [name = ""] = readdirSync(join(home, "workspace-chats/slack-C1/from-tools"));
  expect(name).toMatch(/^notes_draw-[0-9a-f]{8}\.png$/);
  expect(output).toBe(
    `Drawn.\n(file 1, image/png, 1 kB)\nfile 1 is stored as chats/slack-C1/from-tools/${name}.\n[image: file 1]`,
  );
  expect(images).toEqual([{ mediaType: "image/png", data: new Uint8Array(SMALL) }]);
  expect(readFileSync(join(home, "workspace-chats/slack-C1/from-tools", name))).toEqual(SMALL);

  const path = `chats/slack-C1/from-tools/${name}`;
  next(calls({ id: "c2", name: "send_file", input: { path } }));
  await answer(question("Ev9"));
  expect(files).toMatchObject([{ chat: "C1", name, mediaType: "image/png" }]);
});

test("the same picture again is one file", async () => {
  const { give, home } = await bench();
  await give(image(SMALL), image(SMALL));
  await give(image(SMALL));
  expect(readdirSync(join(home, "workspace-chats/slack-C1/from-tools"))).toHaveLength(1);
});

test("a picture beyond the models' limits is scaled down, and one that is broken is named", async () => {
  const { give } = await bench();
  const { output, images } = await give(image(png(8_001, 20)), image(SMALL.subarray(0, 40)));
  expect(images.map(({ data }) => imageFacts(data)?.width)).toEqual([1_568]);
  expect(output).toMatch(/\[image: file 1\]\n\[image: file 2, cannot be read\]$/);
});

test("of many pictures the first four are shown, and the others are named", async () => {
  const { give } = await bench();
  const { output, images } = await give(...Array.from({ length: 9 }, (_, at) => image(png(1, at + 1))));
  expect(images).toHaveLength(4);
  expect(output).toContain("[image: file 5, 68 B, not read]");
  expect(output).toContain("(image, image/png, 1 kB, left out)");
});

test("the words of a recording and the text of an embedded file reach the model", async () => {
  const { give, home } = await bench();
  const { output, images } = await give(
    { type: "audio", mimeType: "audio/x-wav", data: Buffer.from("abc").toString("base64") },
    {
      type: "resource",
      resource: { uri: "file:///a.csv", mimeType: "text/csv", blob: Buffer.from("a,b").toString("base64") },
    },
  );
  expect(images).toEqual([]);
  expect(output).toContain("[audio: file 1, transcribed]\n    three bytes\n[file: file 2]\n    a,b");
  const names = readdirSync(join(home, "workspace-chats/slack-C1/from-tools")).map(
    (name) => name.split(".")[1],
  );
  expect(names.toSorted()).toEqual(["csv", "wav"]);
});

test("where there is no room, or no right to keep files, a picture is shown all the same", async () => {
  const full = await bench({ agent: { limits: { groupMiB: 1, workspaceMiB: 2 } } });
  const large = Buffer.concat([png(2, 2), Buffer.alloc(1_100_000)]);
  const shown = await full.give(image(large));
  expect(shown.images).toHaveLength(1);
  expect(shown.output).toContain("file 1 could not be stored: chats/slack-C1/ is full");

  const guarded = await bench({ agent: { may: { keepFiles: ["operator"] } } });
  const { output, images } = await guarded.give(image(SMALL));
  expect(images).toHaveLength(1);
  expect(output).toBe("(file 1, image/png, 1 kB)\n[image: file 1]");
});

test("older files of tools make room for newer ones", async () => {
  const { give, home } = await bench();
  const pictures = [1, 2, 3].map((height) =>
    Buffer.concat([png(1, height), Buffer.alloc(1_800_000, height)]),
  );
  for (const picture of pictures) await give(image(picture));
  const folder = join(home, "workspace-chats/slack-C1/from-tools");
  expect(readdirSync(folder)).toHaveLength(2);
  expect(
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name)).at(-1))
      .toSorted(),
  ).toEqual([2, 3]);
});

test("in a long run the newest eight pictures stay before the model", async () => {
  const { next, answer, asked, results } = await bench({ agent: { maxSteps: 10 } });
  const step = (at: number) =>
    calls(
      draw(
        [1, 2, 3].map((width) => image(png(width, at))),
        `c${at}`,
      ),
    );
  next(step(1), step(2), step(3));
  await answer(question("Ev1"));
  const shown = (asked.at(-1)?.messages ?? []).flatMap(results);
  expect(shown.map(({ images }: { images: readonly ModelImage[] }) => images.length)).toEqual([0, 3, 3]);
  expect(shown[0]?.output).toMatch(/\(The pictures of this result are no longer shown\.\)$/);
});

test("a question is asked again without a tool's pictures if the provider refuses them", async () => {
  const { next, answer, asked, results } = await bench();
  const refuses = (): never => {
    throw new ModelRefusal("model_failed", "Could not process image");
  };
  next(calls(draw([image(SMALL)])), refuses, says("I cannot see it."));
  expect((await answer(question("Ev1"))).text).toBe("I cannot see it.");
  expect(asked.slice(1).map(({ messages }) => results(messages.at(-1))[0]?.images.length)).toEqual([1, 0]);
  expect(results(asked[2]?.messages.at(-1))[0]?.output).toContain("the model provider refused them");
});
