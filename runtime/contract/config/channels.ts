import * as z from "zod";
import { httpUrl, over, secret } from "./values.ts";

/** Ids of people, chats or servers, in their platform's own form; `*` stands for everyone. */
const ids = z.array(z.string().min(1).max(128)).max(10_000).default([]);

/** What every channel decides on in the same way. */
const access = {
  enabled: z.boolean().default(true),
  dmPolicy: z
    .enum(["pairing", "allowlist", "open", "disabled"])
    .default("pairing")
    .describe(
      "Who may write a direct message: the listed user ids and whoever the operator approves by a pairing code, the listed ones alone, everyone, or nobody.",
    ),
  allowFrom: ids,
  groupPolicy: z
    .enum(["open", "allowlist", "disabled"])
    .default("open")
    .describe(
      "Which groups are answered when the bot is mentioned or replied to: every one it was added to, the ones named in `groups` (`channels` on Slack, `guilds` on Discord), or none.",
    ),
  groupAllowFrom: ids.describe("In groups, answer these people alone. Empty: everyone there."),
  historyLimit: z
    .int()
    .min(0)
    .max(200)
    .default(20)
    .describe("Messages of a group that were not for the bot and are put before its next answer as context."),
  streamMode: z
    .enum(["edit", "off"])
    .default("edit")
    .describe("A reply grows by edits of one message while it is made (`edit`), or comes whole (`off`)."),
  mediaMaxMb: z.number().positive().max(20).default(5).describe("Larger files become a placeholder."),
};

/** What may differ in one group. */
const group = z.strictObject({
  enabled: z.boolean().default(true),
  requireMention: z
    .boolean()
    .default(true)
    .describe("False: every message of the group is answered, mentioned or not."),
});

const groups = z.record(z.string().min(1).max(128), group).default({});

/** `open` is a decision that has to be written out twice. */
function openNamesEveryone(value: { dmPolicy: string; allowFrom: string[] }): boolean {
  return value.dmPolicy !== "open" || value.allowFrom.includes("*");
}

const OPEN_RULE = {
  path: ["allowFrom"],
  message: 'dmPolicy "open" requires allowFrom to include "*"',
  ...over("dmPolicy", "allowFrom"),
};

/** `channels.telegram`. Without `webhookUrl` a host polls. */
export const telegram = z
  .strictObject({
    ...access,
    groupPolicy: access.groupPolicy
      .unwrap()
      .default("allowlist")
      .describe(
        "Which groups are answered: those named in `groups` unless told otherwise, since anyone may add a bot to a group of their own.",
      ),
    botToken: secret,
    groups: groups.describe("Group ids (negative numbers, as text), or `*` for all others."),
    textChunkLimit: z
      .int()
      .min(200)
      .max(4_096)
      .default(4_096)
      .describe("Characters of one message before it is split; Telegram's own limit is 4,096."),
    webhookUrl: httpUrl
      .optional()
      .describe("Where Telegram delivers updates; ends in `/telegram-webhook`. Set, nothing polls."),
    webhookSecret: secret
      .optional()
      .describe("What Telegram has to send along (`X-Telegram-Bot-Api-Secret-Token`)."),
    proxy: httpUrl.optional().describe("An HTTP proxy for Telegram's API."),
  })
  .refine(openNamesEveryone, OPEN_RULE)
  .refine((value) => value.webhookUrl === undefined || value.webhookSecret !== undefined, {
    path: ["webhookSecret"],
    message: "webhookUrl requires webhookSecret",
    ...over("webhookUrl", "webhookSecret"),
  });

/** `channels.slack`, over the Events API. */
export const slack = z
  .strictObject({
    ...access,
    botToken: secret,
    signingSecret: secret,
    channels: groups.describe("Channel ids, or `*` for all others."),
    textChunkLimit: z
      .int()
      .min(200)
      .max(12_000)
      .default(4_000)
      .describe("Characters of one message before it is split."),
  })
  .refine(openNamesEveryone, OPEN_RULE);

/** `channels.discord`, over interactions. */
export const discord = z
  .strictObject({
    ...access,
    token: secret,
    guilds: groups.describe("Server ids, or `*` for all others."),
    textChunkLimit: z.int().min(200).max(2_000).default(2_000),
  })
  .refine(openNamesEveryone, OPEN_RULE);

/** `channels`. */
export const channels = z
  .strictObject({ telegram: telegram.optional(), slack: slack.optional(), discord: discord.optional() })
  .prefault({});

/** What every channel's config has, after defaults. */
export type ChannelRules = Omit<z.output<typeof slack>, "botToken" | "signingSecret" | "channels">;

/** What may differ in one group, after defaults. */
export type GroupRules = z.output<typeof group>;
