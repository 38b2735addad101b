import type { Inbound } from "../../../runtime/contract/message.ts";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import { readDiscordEvent } from "../../../runtime/gateway/channels/discord/inbound.ts";
import { unknownParts as unknownInDiscord } from "../../../runtime/gateway/channels/discord/message.ts";
import {
  readSlackEvent,
  unknownParts as unknownInSlack,
} from "../../../runtime/gateway/channels/slack/inbound.ts";
import { unknownParts as unknownInTelegram } from "../../../runtime/gateway/channels/telegram/message.ts";
import { readTelegramUpdate } from "../../../runtime/gateway/channels/telegram/inbound.ts";
import { bodyOf, DISCORD, type Fate, isUpdate, SLACK, TELEGRAM } from "../support/message-kinds.ts";
import { BOT, telegramAccess, UNMOVED } from "../support/telegram.ts";

type Body = Record<string, unknown>;

const everyone = { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open" };
const config = checkConfig({
  channels: {
    slack: { botToken: "x", signingSecret: "y", ...everyone },
    discord: { token: "x", ...everyone },
  },
});
if (!config.ok) throw new Error("not a config");
const { slack, discord } = config.config.channels;
if (slack === undefined || discord === undefined) throw new Error("not a config");
const nobody = { granted: () => undefined };
const slackAccess = channelAccess({ ...slack, groups: slack.channels, operators: [] }, nobody);
const discordAccess = channelAccess({ ...discord, groups: discord.guilds, operators: [] }, nobody);
const options = {
  access: telegramAccess({ ...everyone, groups: { "*": { requireMention: false } } }),
  bot: BOT,
  moves: UNMOVED,
  mediaMaxBytes: 5_000_000,
};

const PLATFORMS = {
  Telegram: {
    kinds: TELEGRAM,
    unknown: unknownInTelegram,
    body: bodyOf.telegram,
    receive: (body: Body): Inbound => readTelegramUpdate(body, options),
  },
  Slack: {
    kinds: SLACK,
    unknown: unknownInSlack,
    body: bodyOf.slack,
    receive: (body: Body): Inbound => readSlackEvent(body, slackAccess),
  },
  Discord: {
    kinds: DISCORD,
    unknown: unknownInDiscord,
    body: bodyOf.discord,
    receive: (body: Body): Inbound => readDiscordEvent(body, discordAccess),
  },
};

/** Fate of what a channel makes of an event. */
function fateOf({ kind }: Inbound): Fate {
  if (kind === "refused") return "told";
  return kind === "message" || kind === "pressed" || kind === "deleted" ? "read" : "left";
}

const rows = readFileSync(new URL("../../../docs/messages.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .slice(1);

describe.each(Object.entries(PLATFORMS))("%s", (platform, { kinds, body, receive, unknown }) => {
  test.each(Object.entries(kinds))("%s", (_, { payload, place, expected, fate }) => {
    const inbound = receive(body(payload, place));
    expect(inbound).toMatchObject(expected);
    expect(fateOf(inbound)).toBe(fate);
  });

  test("has the kinds that the documentation lists, with the same fates", () => {
    const column = ["", "kind", "Telegram", "Slack", "Discord"].indexOf(platform);
    const documented = rows.flatMap((row) => (row[column] === "—" ? [] : [[row[1], row[column]]]));
    const shown = { read: "read", left: "ignored", told: "refused" };
    expect(
      Object.entries(kinds)
        .map(([kind, { fate }]) => [kind, shown[fate]])
        .toSorted(),
    ).toEqual(documented.toSorted());
  });

  test("knows every field of these kinds, and tells which it does not know", () => {
    const odd = Object.values(kinds).flatMap(({ payload, place }) => unknown(body(payload, place)));
    expect(odd.filter((part) => !part.endsWith("hologram"))).toEqual([]);
    expect(unknown({ ...body({}), zz_new: 1 })).toEqual(["zz_new"]);
  });

  const kind = fc.constantFrom(...Object.values(kinds));
  const field = fc.tuple(
    fc.stringMatching(/^zz_[a-z_]{1,12}$/),
    fc.oneof(fc.jsonValue(), fc.constantFrom(null, {}, [], 0, "")),
  );

  test("loses no kind and no word to fields that nobody knows yet", () => {
    fc.assert(
      fc.property(kind, fc.array(field, { maxLength: 6 }), ({ payload, place, expected, fate }, more) => {
        const inbound = receive(body({ ...payload, ...Object.fromEntries(more) }, place));
        expect(inbound).toMatchObject(expected);
        expect(fateOf(inbound)).toBe(fate);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Words without anything that a platform or the gateway reads in its own way. */
const words = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
  .filter((text) => /^[\p{L}\p{N} ]*\p{L}[\p{L}\p{N} ]*$/u.test(text));

test.each(["Telegram", "Slack", "Discord"] as const)(
  "%s: the words beside parts of an unexpected form are read",
  (platform) => {
    const { kinds, body, receive } = PLATFORMS[platform];
    const samples = Object.values(kinds).filter(
      ({ fate, place, payload }) =>
        fate === "read" && place === undefined && !("type" in payload) && !isUpdate(payload),
    );
    fc.assert(
      fc.property(fc.constantFrom(...samples), words, fc.jsonValue(), ({ payload }, text, odd) => {
        const broken = Object.fromEntries(Object.keys(payload).map((key) => [key, odd]));
        const kept = { subtype: undefined, forward_origin: undefined, thread_ts: undefined };
        const inbound = receive(
          body({ ...broken, ...kept, ...(platform === "Discord" ? { content: text } : { text }) }),
        );
        expect(inbound).toMatchObject({ kind: "message", text: text.trim() });
      }),
      { numRuns: 1_000 },
    );
  },
);
