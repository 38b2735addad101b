import { expect, test } from "vitest";
import { read, marked } from "../support/telegram.ts";

test.each([
  ["/start", "/help"],
  ["/start invite_7f", "/help"],
  ["/start  how are you", "/start  how are you"],
  ["/start invite+7f", "/start invite+7f"],
  ["/starting invite_7f", "/starting invite_7f"],
])("the button that opens a chat asks for help, also by a link with a parameter: %s", (said, text) => {
  expect(read(marked(said, { type: "bot_command", of: said.split(" ")[0] ?? "" }))).toMatchObject({ text });
});

test("links behind words are written out", () => {
  const link = marked("see the page now", { type: "text_link", of: "the page", url: "https://x.example/a" });
  expect(read(link)).toMatchObject({ text: "see the page (https://x.example/a) now" });
});

// As https://core.telegram.org/bots/api#available-types has them.
test.each([
  [
    "a photo: the largest size within the cap",
    {
      photo: [
        { file_id: "s", file_unique_id: "1", width: 90, height: 90, file_size: 1_500 },
        { file_id: "m", file_unique_id: "2", width: 320, height: 320, file_size: 20_000 },
        { file_id: "l", file_unique_id: "3", width: 2_560, height: 2_560, file_size: 9_000_000 },
      ],
    },
    { kind: "image", reference: "m", mediaType: "image/jpeg", sizeBytes: 20_000 },
  ],
  [
    "a document",
    {
      document: {
        file_id: "d",
        file_unique_id: "1",
        file_name: "a.pdf",
        mime_type: "application/pdf",
        file_size: 9,
      },
    },
    { kind: "file", reference: "d", name: "a.pdf", mediaType: "application/pdf", sizeBytes: 9 },
  ],
  [
    "an image sent as a file",
    { document: { file_id: "d", file_unique_id: "1", file_name: "a.png", mime_type: "image/png" } },
    { kind: "image", reference: "d", name: "a.png", mediaType: "image/png" },
  ],
  [
    "a voice message",
    { voice: { file_id: "v", file_unique_id: "1", duration: 3, mime_type: "audio/ogg", file_size: 4 } },
    { kind: "audio", reference: "v", mediaType: "audio/ogg", sizeBytes: 4 },
  ],
  [
    "music",
    {
      audio: {
        file_id: "a",
        file_unique_id: "1",
        duration: 3,
        title: "x",
        file_name: "x.mp3",
        mime_type: "audio/mpeg",
      },
    },
    { kind: "audio", reference: "a", name: "x.mp3", mediaType: "audio/mpeg" },
  ],
  [
    "a video",
    { video: { file_id: "v", file_unique_id: "1", width: 1, height: 1, duration: 1, file_name: "v.mp4" } },
    { kind: "video", reference: "v", name: "v.mp4", mediaType: "video/mp4" },
  ],
  [
    "a round video",
    { video_note: { file_id: "n", file_unique_id: "1", length: 1, duration: 1 } },
    { kind: "video", reference: "n", mediaType: "video/mp4" },
  ],
  [
    "a sticker",
    {
      sticker: {
        file_id: "s",
        file_unique_id: "1",
        type: "regular",
        width: 512,
        height: 512,
        is_animated: false,
        is_video: false,
        emoji: "👍",
      },
    },
    { kind: "image", reference: "s", name: "sticker 👍", mediaType: "image/webp" },
  ],
  [
    "an animated sticker",
    {
      sticker: {
        file_id: "s",
        file_unique_id: "1",
        type: "regular",
        width: 512,
        height: 512,
        is_animated: true,
        is_video: false,
      },
    },
    { kind: "file", reference: "s", name: "sticker", mediaType: "application/x-tgsticker" },
  ],
  [
    "a live photo: its picture",
    {
      live_photo: {
        file_id: "v",
        file_unique_id: "1",
        duration: 2,
        photo: [{ file_id: "p", file_unique_id: "2", width: 90, height: 90, file_size: 1_500 }],
      },
    },
    { kind: "image", reference: "p", mediaType: "image/jpeg", sizeBytes: 1_500 },
  ],
  [
    "a live photo without one: its video",
    { live_photo: { file_id: "v", file_unique_id: "1", duration: 2 } },
    { kind: "video", reference: "v", mediaType: "video/mp4" },
  ],
  [
    "a GIF, which comes as a document too",
    {
      animation: {
        file_id: "g",
        file_unique_id: "1",
        width: 1,
        height: 1,
        duration: 1,
        mime_type: "video/mp4",
      },
      document: { file_id: "g", file_unique_id: "1", mime_type: "video/mp4" },
    },
    { kind: "video", reference: "g", mediaType: "video/mp4" },
  ],
])("%s", (_, files, attachment) => {
  expect(read({ text: undefined, caption: "look", ...files })).toMatchObject({
    kind: "message",
    text: "look",
    attachments: [attachment],
  });
  expect(read({ text: undefined, ...files })).toMatchObject({
    kind: "message",
    text: "",
    attachments: [attachment],
  });
});

test.each([
  ["a location", { location: { latitude: 52.5, longitude: 13.4 } }, "[location: 52.5, 13.4]"],
  [
    "a place",
    {
      location: { latitude: 52.5, longitude: 13.4 },
      venue: { location: { latitude: 52.5, longitude: 13.4 }, title: "Café", address: "A street 1" },
    },
    "[place: Café, A street 1]\n[location: 52.5, 13.4]",
  ],
  [
    "a contact",
    { contact: { phone_number: "+491", first_name: "Grace", last_name: "H", user_id: 1 } },
    "[contact: Grace H, +491]",
  ],
  [
    "a poll",
    {
      poll: {
        id: "1",
        question: "Tea?",
        options: [
          { text: "yes", voter_count: 0 },
          { text: "no", voter_count: 0 },
        ],
      },
    },
    "[poll: Tea? yes / no]",
  ],
  [
    "a checklist",
    {
      checklist: {
        title: "Shopping",
        tasks: [
          { id: 1, text: "Milk" },
          { id: 2, text: "Bread [x]" },
        ],
      },
    },
    "[checklist: Shopping, Milk, Bread x]",
  ],
])("%s is told in words", (_, extra, text) => {
  expect(read({ text: undefined, ...extra })).toMatchObject({ kind: "message", text });
});
