import { expect, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { RefusedError } from "../../../runtime/gateway/failure.ts";
import { createTelegramChannel } from "../../../runtime/gateway/channels/telegram/channel.ts";
import { TELEGRAM_TOKEN, telegramStandIn } from "../../support/telegram.ts";
import { telegramAccess, UNMOVED } from "../support/telegram.ts";

const TARGET = { chat: "-1001234567890" };
const none = (): void => {};

async function channel() {
  const telegram = await telegramStandIn();
  const { config } = checkConfig({ channels: { telegram: { botToken: TELEGRAM_TOKEN } } }) as {
    config: { channels: { telegram: Parameters<typeof createTelegramChannel>[0]["config"] } };
  };
  const { files } = createTelegramChannel({
    config: config.channels.telegram,
    access: telegramAccess(),
    environment: { TELEGRAM_API_ROOT: telegram.url },
    intake: () => undefined,
    moves: UNMOVED,
    clock: () => 1_795_000_000_000,
    log: { debug: none, info: none, warn: none, error: none },
  });
  if (files === undefined) throw new Error("no files");
  return { telegram, files };
}

const picture = (bytes = 10) => ({ name: "a.png", mediaType: "image/png", data: new Uint8Array(bytes) });
const report = { name: "report.pdf", mediaType: "application/pdf", data: new Uint8Array(10) };

test("a picture is shown as one, any other file is a document, and both go into their topic", async () => {
  const { telegram, files } = await channel();
  await files.send({ ...TARGET, thread: "42" }, picture(), "As asked");
  await files.send(TARGET, report);
  expect(telegram.messages()).toMatchObject([
    { chat: TARGET.chat, thread: 42, text: "[photo: a.png] As asked" },
    { chat: TARGET.chat, text: "[document: report.pdf]" },
  ]);
});

test("a picture that is no photo to Telegram is a document", async () => {
  const { telegram, files } = await channel();
  await files.send(TARGET, picture(10_000_001));
  telegram.fail("sendPhoto", { status: 400, description: "Bad Request: PHOTO_INVALID_DIMENSIONS" });
  await files.send(TARGET, picture());
  expect(telegram.calls.map(({ method }) => method)).toEqual(["sendDocument", "sendPhoto", "sendDocument"]);
  expect(telegram.messages()).toHaveLength(2);
});

test("a file for a topic that is gone goes into the group", async () => {
  const { telegram, files } = await channel();
  telegram.fail("sendDocument", { status: 400, description: "Bad Request: message thread not found" });
  await files.send({ ...TARGET, thread: "42" }, report);
  expect(telegram.messages()).toMatchObject([{ chat: TARGET.chat, text: "[document: report.pdf]" }]);
  expect(telegram.messages()[0]).not.toHaveProperty("thread");
});

test("a refusal is told, and a failure whose outcome is unknown is not tried again", async () => {
  const { telegram, files } = await channel();
  telegram.block(-1001234567890);
  await expect(files.send(TARGET, report)).rejects.toBeInstanceOf(RefusedError);
  telegram.fail("sendPhoto", { status: 502, description: "Bad Gateway" });
  await expect(files.send({ chat: "5" }, picture())).rejects.toMatchObject({ code: "telegram_unreachable" });
  expect(telegram.calls.map(({ method }) => method)).toEqual(["sendDocument", "sendPhoto"]);
});
