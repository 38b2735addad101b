import { expect, test } from "vitest";
import { marked, message, read, SOMEBODY, THE_BOT } from "../support/telegram.ts";

const BO = { id: 77, is_bot: false, first_name: "Bo", username: "bo" };
const PHOTO = { photo: [{ file_id: "p", file_unique_id: "p", width: 9, height: 9, file_size: 10 }] };
const PICTURE = { kind: "image", reference: "p", mediaType: "image/jpeg", sizeBytes: 10 };
const AUTHOR = { id: "77", name: "Bo", username: "bo" };
const NEWS = { id: -1001, type: "channel", title: "News" };

// As https://core.telegram.org/bots/api#message has them.
test.each([
  [
    "a reply",
    { reply_to_message: message({ from: BO, text: "The boiler shows error F28" }) },
    [{ kind: "reply", author: AUTHOR, text: "The boiler shows error F28", attachments: [] }],
  ],
  [
    "a reply to the bot",
    { reply_to_message: message({ from: THE_BOT, text: "It is 18450" }) },
    [{ kind: "reply", author: "bot", text: "It is 18450", attachments: [] }],
  ],
  [
    "a chosen part",
    { reply_to_message: message({ from: BO }), quote: { text: "18450 crowns", position: 15 } },
    [{ kind: "quote", author: AUTHOR, text: "18450 crowns", attachments: [] }],
  ],
  [
    "a reply to a photo with a caption",
    { reply_to_message: message({ from: BO, text: undefined, caption: "Rovinj", ...PHOTO }) },
    [{ kind: "reply", author: AUTHOR, text: "Rovinj", attachments: [PICTURE] }],
  ],
  [
    "a reply to formatted text",
    {
      reply_to_message: message({
        from: BO,
        text: undefined,
        rich_message: { blocks: [{ type: "heading", text: "Prices" }] },
      }),
    },
    [{ kind: "reply", author: AUTHOR, text: "# Prices", attachments: [] }],
  ],
  [
    "a reply to a channel's post, with a link behind words",
    {
      reply_to_message: message({
        from: BO,
        sender_chat: NEWS,
        ...marked("read more", { type: "text_link", of: "more", url: "https://x.example" }),
      }),
    },
    [{ kind: "reply", author: { id: "-1001", name: "News" }, text: "read more (https://x.example)" }],
  ],
  [
    "a reply to a message of another chat",
    {
      external_reply: { origin: { type: "channel", date: 1, chat: NEWS, message_id: 3 }, ...PHOTO },
      quote: { text: "Morgenstund", position: 0 },
    },
    [
      {
        kind: "quote",
        author: { id: "-1001", name: "News" },
        text: "Morgenstund",
        attachments: [PICTURE],
      },
    ],
  ],
  [
    "a reply to a poll of another chat",
    {
      external_reply: {
        origin: { type: "hidden_user", date: 1, sender_user_name: "Eve" },
        poll: { question: "Tea?", options: [{ text: "yes" }, { text: "no" }] },
      },
    },
    [{ kind: "reply", author: { name: "Eve" }, text: "[poll: Tea? yes / no]", attachments: [] }],
  ],
])("%s comes with the message", (_, extra, references) => {
  expect(read(message({ text: "And this?", ...extra }))).toMatchObject({
    kind: "message",
    text: "And this?",
    attachments: [],
    references,
  });
});

test.each([
  ["a topic's beginning", { reply_to_message: message({ forum_topic_created: { name: "x" } }) }],
  ["a notice", { reply_to_message: message({ text: undefined, pinned_message: {} }) }],
  ["nothing", {}],
])("an answer to %s refers to nothing", (_, extra) => {
  expect(read(message({ text: "And this?", ...extra }))).not.toHaveProperty("references");
});

test.each([
  [{ type: "user", sender_user: BO }, AUTHOR],
  [{ type: "user", sender_user: THE_BOT }, "bot"],
  [{ type: "hidden_user", sender_user_name: "Eve" }, { name: "Eve" }],
  [
    { type: "chat", sender_chat: NEWS },
    { id: "-1001", name: "News" },
  ],
  [
    { type: "channel", chat: NEWS, message_id: 3 },
    { id: "-1001", name: "News" },
  ],
])("what is passed on are the words of the first writer: %o", (origin, author) => {
  const forward = message({ text: "/reset all", ...PHOTO, forward_origin: { date: 1, ...origin } });
  expect(read(forward)).toMatchObject({
    kind: "message",
    text: "",
    attachments: [],
    references: [{ kind: "forward", author, text: "/reset all", attachments: [PICTURE] }],
  });
});

test("what is passed on in a group addresses nobody, and is kept as context", () => {
  const mention = marked("@StewardBot /help", { type: "mention", of: "@StewardBot" });
  const forward = message({ ...mention, forward_origin: { type: "user", sender_user: BO } }, "group");
  expect(read(forward)).toMatchObject({ kind: "context", text: "" });
});

test("the bot's name alone below a message asks about that message", () => {
  const name = marked("@StewardBot", { type: "mention", of: "@StewardBot" });
  const below = message({ ...name, reply_to_message: message({ from: SOMEBODY, text: "F28" }) }, "group");
  expect(read(below)).toMatchObject({ kind: "message", text: "", references: [{ text: "F28" }] });
  expect(read(message(name, "group"))).toMatchObject({ kind: "ignored", note: "no text" });
});

test("a part of an unexpected form is left out, and the words are read", () => {
  const odd = { quote: 7, external_reply: { origin: "x" }, forward_origin: [], photo: "none", entities: {} };
  expect(read(message({ text: "And this?", ...odd }))).toMatchObject({ kind: "message", text: "And this?" });
});
