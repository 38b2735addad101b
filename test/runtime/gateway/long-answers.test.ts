import { expect, test } from "vitest";
import type { Button } from "../../../runtime/gateway/actions.ts";
import type { Channel, OutgoingFile } from "../../../runtime/gateway/channels/channel.ts";
import { RefusedError, RetryableError } from "../../../runtime/gateway/failure.ts";
import { deliveriesOver, message } from "../support/deliveries.ts";

const LONG = Array.from({ length: 7 }, (_, at) => `Part ${at} ${"word ".repeat(30)}`).join("\n\n");

const NOT_NOW: Error = new RetryableError("channel_failed", "not now");

interface Bench {
  plain?: boolean;
  /** Files that the channel does not take, and why. */
  fails?: number;
  error?: Error;
}

/** A channel that takes files; `plain` has no buttons. */
async function bench(text: string, { plain = false, fails = 0, error = NOT_NOW }: Bench = {}) {
  const files: { chat: string; file: OutgoingFile }[] = [];
  const words: string[] = [];
  const offered: { text: string; buttons: readonly Button[] }[] = [];
  let left = fails;
  const channel: Partial<Channel> = {
    send: async (_target, part, _number, buttons = []) => {
      offered.push({ text: part, buttons });
      return {};
    },
    files: {
      maxBytes: 1_000_000,
      send: async ({ chat }, file) => {
        left -= 1;
        if (left >= 0) throw error;
        files.push({ chat, file });
      },
    },
    ...(!plain && { answerPress: async (_press, word) => void words.push(word) }),
  };
  const all = await deliveriesOver(async (question) => {
    const [{ delivery, sender, text: asked }] = question.messages;
    const { session: conversation } = question;
    all.sessions.ask({
      session: conversation,
      messages: [{ delivery, sender, text: asked }],
      group: false,
      at: 1,
    });
    all.sessions.keepAnswer(conversation, [delivery], text, 2);
    return { text, delivery };
  }, channel);
  const press = (id: string, button: Button | undefined, sender = "U1", chat = "1") =>
    all.inbox.deliver(
      message(id, "", {
        kind: "pressed",
        sender: { id: sender },
        press: button?.press ?? "",
        target: { chat },
        ticket: "t",
        message: "9",
      }),
    );
  const button = () => offered.at(-1)?.buttons[0];
  return { ...all, files, words, offered, press, button };
}

test("behind an answer of more than three messages a button offers it as a file, to the one who asked, once", async () => {
  const { inbox, offered, files, words, press, button } = await bench(LONG);
  expect(await inbox.deliver(message("1", "explain"))).toMatchObject({ outcome: "answered" });
  expect(offered.slice(0, -1).map(({ text }) => text.slice(0, 6))).toEqual(
    Array.from({ length: 7 }, (_, at) => `Part ${at}`),
  );
  expect(offered.at(-1)).toMatchObject({
    text: "The complete answer as a file:",
    buttons: [{ label: "As a file" }],
  });
  expect(files).toEqual([]);

  expect(await press("2", button(), "U2")).toMatchObject({ note: "a button: another's" });
  expect(await press("3", button())).toMatchObject({ outcome: "answered" });
  expect(files).toEqual([
    {
      chat: "1",
      file: { name: "answer.md", mediaType: "text/markdown", data: new TextEncoder().encode(LONG) },
    },
  ]);
  expect(await press("3", button())).toMatchObject({ outcome: "repeated" });
  expect(await press("4", button())).toMatchObject({ note: "a button: used" });
  expect(files).toHaveLength(1);
  expect(words).toEqual(["This button is not for you.", "As a file", "This has already been answered."]);
});

test("an answer of three messages is offered as nothing else", async () => {
  const { inbox, offered } = await bench(LONG.slice(0, 480));
  await inbox.deliver(message("1", "explain"));
  expect(offered.map(({ buttons }) => buttons.length)).toEqual([0, 0, 0]);
});

test("a press is tried again while the platform takes no file, and told of when the answer is gone", async () => {
  const { inbox, files, offered, press, button, database } = await bench(LONG, { fails: 1 });
  await inbox.deliver(message("1", "explain"));
  await expect(press("2", button())).rejects.toMatchObject({ code: "channel_failed" });
  expect(await press("2", button())).toMatchObject({ outcome: "answered" });
  expect(files).toHaveLength(1);

  await inbox.deliver(message("5", "and again"));
  const later = button();
  database.exec("DELETE FROM messages");
  expect(await press("6", later)).toMatchObject({ outcome: "answered" });
  expect(offered.at(-1)?.text).toContain("no longer have that answer");
});

test("a chat that takes no files is told so", async () => {
  const error = new RefusedError("reply_refused", "The Slack app lacks the scope files:write.");
  const { inbox, offered, press, button } = await bench(LONG, { fails: 1, error });
  await inbox.deliver(message("1", "explain"));
  const note = expect.stringContaining("files:write");
  expect(await press("2", button())).toMatchObject({ outcome: "failed", note });
  expect(offered.at(-1)?.text).toContain("could not send the file");
});

test("where there are no buttons the file follows by itself; one that is not taken fails no answer", async () => {
  const { inbox, files, offered } = await bench(LONG, { plain: true, fails: 1 });
  expect(await inbox.deliver(message("1", "explain"))).toMatchObject({ outcome: "answered" });
  expect(files).toEqual([]);
  await inbox.deliver(message("2", "explain"));
  expect(files.map(({ file }) => file.name)).toEqual(["answer.md"]);
  expect(offered).toHaveLength(14);
});
