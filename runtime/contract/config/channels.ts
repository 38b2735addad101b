import * as z from "zod/mini";
import type { Platform } from "../delivery.ts";
import { GROUP_IDS, type IdForm, idOrAll, sendElsewhere, USER_IDS } from "./ids.ts";
import { withHelp, httpUrl, integer, whenFieldsValid, secret } from "./values.ts";

/** Ids of people in their platform's own form; `*` means everyone. */
function ids(form: IdForm) {
  return z._default(z.array(idOrAll(form)).check(z.maxLength(10_000)), []);
}

const groupPolicy = z.enum(["open", "allowlist", "disabled"]);

/** Access settings that every channel has. */
const access = (user: IdForm) => ({
  enabled: z._default(z.boolean(), true),
  dmPolicy: withHelp(
    z._default(z.enum(["pairing", "allowlist", "open", "disabled"]), "pairing"),
    "Who may write a direct message: the listed user ids and whoever the operator approves by a pairing code, the listed ones alone, everyone, or nobody.",
  ),
  allowFrom: ids(user),
  groupPolicy: withHelp(
    z._default(groupPolicy, "open"),
    "Which groups are answered when the bot is mentioned or replied to: every one it was added to, the ones named in `groups` (`channels` on Slack, `guilds` on Discord), or none.",
  ),
  groupAllowFrom: withHelp(ids(user), "In groups, answer these people alone. Empty: everyone there."),
  historyLimit: withHelp(
    z._default(integer(0, 200), 20),
    "Messages of a group that were not for the bot and are put before its next answer as context.",
  ),
  streamMode: withHelp(
    z._default(z.enum(["edit", "off"]), "edit"),
    "A reply grows by edits of one message while it is made (`edit`), or comes whole (`off`).",
  ),
  mediaMaxMb: withHelp(
    z._default(z.number().check(z.positive(), z.maximum(20)), 5),
    "Larger files become a placeholder.",
  ),
});

/** Settings that may differ in one group. */
const group = z.strictObject({
  enabled: z._default(z.boolean(), true),
  requireMention: withHelp(
    z._default(z.boolean(), true),
    "False: every message of the group is answered, mentioned or not.",
  ),
  sendElsewhere: withHelp(
    z.optional(sendElsewhere),
    "Other chats that this group may have messages sent to. Not set: none.",
  ),
});

function groups(form: IdForm) {
  return z._default(z.record(idOrAll(form), group), {});
}

/** Opening a channel to everyone must be stated twice: in `dmPolicy` and in `allowFrom`. */
function openNamesEveryone(value: { dmPolicy: string; allowFrom: string[] }): boolean {
  return value.dmPolicy !== "open" || value.allowFrom.includes("*");
}

const OPEN_RULE = {
  path: ["allowFrom"],
  message: 'dmPolicy "open" requires allowFrom to include "*"',
  ...whenFieldsValid("dmPolicy", "allowFrom"),
};

/** `channels.telegram`. Without `webhookUrl`, a host polls for updates. */
const telegram = z
  .strictObject({
    ...access(USER_IDS.telegram),
    groupPolicy: withHelp(
      z._default(groupPolicy, "allowlist"),
      "Which groups are answered: those named in `groups` unless told otherwise, since anyone may add a bot to a group of their own.",
    ),
    botToken: secret,
    groups: withHelp(
      groups(GROUP_IDS.telegram),
      "Group ids (negative numbers, as text), or `*` for all others.",
    ),
    textChunkLimit: withHelp(
      z._default(integer(200, 4_096), 4_096),
      "Characters of one message before it is split; Telegram's own limit is 4,096.",
    ),
    ackReaction: withHelp(
      z.optional(z.string().check(z.minLength(1), z.maxLength(16))),
      "An emoji that the bot sets on a message that it is going to answer; Telegram takes those of its own list, such as 👀.",
    ),
    webhookUrl: withHelp(
      z.optional(httpUrl),
      "Where Telegram delivers updates; ends in `/telegram-webhook`. Set, nothing polls.",
    ),
    webhookSecret: withHelp(
      z.optional(secret),
      "What Telegram has to send along (`X-Telegram-Bot-Api-Secret-Token`).",
    ),
    proxy: withHelp(z.optional(httpUrl), "An HTTP proxy for Telegram's API."),
  })
  .check(
    z.refine(openNamesEveryone, OPEN_RULE),
    z.refine((value) => value.webhookUrl === undefined || value.webhookSecret !== undefined, {
      path: ["webhookSecret"],
      message: "webhookUrl requires webhookSecret",
      ...whenFieldsValid("webhookUrl", "webhookSecret"),
    }),
  );

/** `channels.slack`, over the Events API. */
const slack = z
  .strictObject({
    ...access(USER_IDS.slack),
    botToken: secret,
    signingSecret: secret,
    channels: withHelp(groups(GROUP_IDS.slack), "Channel ids, or `*` for all others."),
    ackReaction: withHelp(
      z.optional(z.string().check(z.regex(/^[\w+'-]{1,100}$/))),
      "The name of an emoji that the bot sets on a message that it is going to answer, such as `eyes`; the app needs the scope `reactions:write`.",
    ),
    textChunkLimit: withHelp(
      z._default(integer(200, 12_000), 4_000),
      "Characters of one message before it is split.",
    ),
  })
  .check(z.refine(openNamesEveryone, OPEN_RULE));

/** `channels.discord`: commands, and on a host messages too. */
const discord = z
  .strictObject({
    ...access(USER_IDS.discord),
    groupPolicy: withHelp(
      z._default(groupPolicy, "allowlist"),
      "Which servers are answered: those named in `guilds` unless told otherwise, since anyone may add a public app to a server of their own.",
    ),
    token: secret,
    guilds: withHelp(
      groups(GROUP_IDS.discord),
      "Server ids, or `*` for all others. `requireMention: false` needs the Message Content intent, which is switched on at the Bot page of the developer portal.",
    ),
    ackReaction: withHelp(
      z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
      "An emoji that the bot sets on a message that it is going to answer, such as 👀, or `name:id` of one of the server's own.",
    ),
    textChunkLimit: z._default(integer(200, 2_000), 2_000),
  })
  .check(z.refine(openNamesEveryone, OPEN_RULE));

/** `channels`. */
export const channels = z.prefault(
  z.strictObject({
    telegram: z.optional(telegram),
    slack: z.optional(slack),
    discord: z.optional(discord),
  } satisfies Record<Platform, z.ZodMiniType>),
  {},
);

/** Members of every channel's config, after defaults. */
export type ChannelRules = Omit<
  z.output<typeof slack>,
  "botToken" | "signingSecret" | "channels" | "ackReaction"
>;

/** Settings that may differ in one group, after defaults. */
export type GroupRules = z.output<typeof group>;
