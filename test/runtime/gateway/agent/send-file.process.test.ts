import type { Admission } from "../../../../runtime/contract/message.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentBench, calls, question } from "../../support/agent.ts";

const PERSON: Admission = { by: "config", grants: "person" };
const GROUP: Admission = { by: "group", sendElsewhere: [] };

/** A bench whose workspace has a report, an empty and a large file, and another chat's. */
async function bench(settings: object = {}) {
  const it = await agentBench(settings);
  const { answer } = it.start();
  mkdirSync(join(it.home, "workspace/notes"), { recursive: true });
  mkdirSync(join(it.home, "workspace-chats/slack-C2"), { recursive: true });
  writeFileSync(join(it.home, "workspace/notes/report.pdf"), "report");
  writeFileSync(join(it.home, "workspace/empty.txt"), "");
  writeFileSync(join(it.home, "workspace/large.txt"), "x".repeat(1_001));
  writeFileSync(join(it.home, "workspace-chats/slack-C2/own.txt"), "theirs");
  /** Has the model send files. Returns what it is told. */
  const send = async (paths: string[], admission = PERSON, platform = "slack") => {
    it.next(
      calls(...paths.map((path) => ({ id: path, name: "send_file", input: { path, caption: "As asked" } }))),
    );
    const messages = [{ delivery: "1", sender: { id: "U1" }, admission, text: "hi", images: [] }] as const;
    await answer(question("1", "", { platform, direct: admission !== GROUP, messages }));
    return JSON.stringify(it.asked.at(-1)?.messages);
  };
  return { ...it, answer, send };
}

test("a file of the workspace goes into the chat that asks, once, and is logged without what it says", async () => {
  const { send, files, logged, answer } = await bench();
  expect(await send(["notes/report.pdf"])).toContain("Sent.");
  const report = { name: "report.pdf", mediaType: "application/pdf", text: "report", caption: "As asked" };
  expect(files).toEqual([{ chat: "C1", ...report }]);
  const entry = logged.find(({ message }) => message === "a file is sent");
  expect(entry?.fields).toEqual({ platform: "slack", chat: "C1", bytes: 6 });
  await answer(question("1"));
  expect(files).toHaveLength(1);
});

test("what cannot be sent is told, with the number where there is one", async () => {
  const { send, files } = await bench();
  const told = await send(["large.txt", "empty.txt", "none.txt", "../secret", "notes"]);
  expect(told).toContain("large.txt has 1001 bytes; slack accepts at most 1000.");
  expect(told).toContain("empty.txt is empty");
  expect(told).toContain("There is no file none.txt.");
  expect(told).toContain("stay in the workspace");
  expect(told).toContain("notes is not a file.");
  expect(files).toEqual([]);
});

test("a chat sends what it may read, and nothing of another's", async () => {
  const shared = await bench();
  const told = await shared.send(["chats/slack-C2/own.txt", "notes/report.pdf"], GROUP);
  expect(told).toContain("Below chats/, this chat can use only chats/slack-C1/.");
  expect(shared.files).toMatchObject([{ text: "report" }]);
  const own = await bench({ agent: { may: { readWorkspace: ["operator"] } } });
  expect(await own.send(["notes/report.pdf"], GROUP)).toContain("In the workspace, this chat can use only");
  expect(own.files).toEqual([]);
});

test("without the capability, or where no file can be sent, there is no such tool", async () => {
  const { send, files } = await bench({ agent: { may: { sendFiles: ["operator"] } } });
  expect(await send(["notes/report.pdf"])).toContain("There is no tool send_file.");
  const program = await bench();
  expect(await program.send(["notes/report.pdf"], PERSON, "api")).toContain("There is no tool send_file.");
  expect(program.asked[0]?.tools.map(({ name }) => name)).not.toContain("send_file");
  expect([files, program.files]).toEqual([[], []]);
});

test("on the web chat a file appears beside the message that asked for it", async () => {
  const { send, files, pages } = await bench();
  expect(await send(["notes/report.pdf", "none.txt"], PERSON, "web")).toContain("Sent.");
  expect(files).toEqual([]);
  expect(pages).toMatchObject([
    { type: "file", id: "1", name: "report.pdf", size: 6, picture: false, caption: "As asked" },
  ]);
});
