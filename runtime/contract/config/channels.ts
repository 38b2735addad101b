import * as z from "zod/mini";
import type { Platform } from "../delivery.ts";
import { GROUP_IDS, type IdForm, idOrAll, sendElsewhere, USER_IDS } from "./ids.ts";
import { withHelp, httpUrl, integer, whenFieldsValid, secret } from "./values.ts";

/** Schema of a list of people's ids in their platform's format; `*` means everyone. */
function ids(form: IdForm) {
  return z._default(z.array(idOrAll(form)).check(z.maxLength(10_000)), []);
}

const groupPolicy = z.enum(["open", "allowlist", "disabled"]);

const access = (user: IdForm) => ({
  enabled: z._default(z.boolean(), true),
  dmPolicy: withHelp(
    z._default(z.enum(["pairing", "allowlist", "open", "disabled"]), "pairing"),
    "Who may write direct messages. `pairing`: people in `allowFrom`, and people whom the operator approves by a pairing code. `allowlist`: only people in `allowFrom`. `open`: everyone. `disabled`: nobody.",
  ),
  allowFrom: ids(user),
  groupPolicy: withHelp(
    z._default(groupPolicy, "open"),
    "Groups in which the bot answers when it is mentioned or replied to. `open`: all groups it was added to. `allowlist`: those in `groups` (`channels` on Slack, `guilds` on Discord). `disabled`: none.",
  ),
  groupAllowFrom: withHelp(ids(user), "The only people whom the bot answers in groups. Empty: everyone."),
  historyLimit: withHelp(
    z._default(integer(0, 200), 20),
    "Maximum number of group messages, not addressed to the bot, that become context for its next answer.",
  ),
  streamMode: withHelp(
    z._default(z.enum(["edit", "off"]), "edit"),
    "`edit`: the reply appears early and grows by edits of one message. `off`: the reply is sent when it is complete.",
  ),
  mediaMaxMb: withHelp(
    z._default(z.number().check(z.positive(), z.maximum(20)), 5),
    "Largest file that the bot reads, in MB. The model gets a placeholder for larger files.",
  ),
});

/** Settings per group. */
const group = z.strictObject({
  enabled: z._default(z.boolean(), true),
  requireMention: withHelp(
    z._default(z.boolean(), true),
    "`false`: the bot answers every message of the group, even without a mention.",
  ),
  sendElsewhere: withHelp(
    z.optional(sendElsewhere),
    "Other chats to which the bot may send messages at this group's request. Not set: none.",
  ),
});

function groups(form: IdForm) {
  return z._default(z.record(idOrAll(form), group), {});
}

/**
 * Returns false if `dmPolicy` is "open" but `allowFrom` lacks `*`: a channel opens to everyone only with both settings.
 */
function hasAllIfOpen(value: { dmPolicy: string; allowFrom: string[] }): boolean {
  return value.dmPolicy !== "open" || value.allowFrom.includes("*");
}

const OPEN_RULE = {
  path: ["allowFrom"],
  message: 'dmPolicy "open" requires allowFrom to include "*"',
  ...whenFieldsValid("dmPolicy", "allowFrom"),
};

/** Config section `channels.telegram`. Without `webhookUrl`, a gateway on a host polls for updates. */
const telegram = z
  .strictObject({
    ...access(USER_IDS.telegram),
    groupPolicy: withHelp(
      z._default(groupPolicy, "allowlist"),
      "Groups in which the bot answers. By default only those in `groups`, because anyone may add the bot to a group.",
    ),
    botToken: secret,
    groups: withHelp(
      groups(GROUP_IDS.telegram),
      "Group ids (negative numbers, as text), or `*` for all others.",
    ),
    textChunkLimit: withHelp(
      z._default(integer(200, 4_096), 4_096),
      "Longest message, in characters; longer replies are split. Telegram's own limit is 4,096.",
    ),
    ackReaction: withHelp(
      z.optional(z.string().check(z.minLength(1), z.maxLength(16))),
      "Emoji with which the bot reacts to a message that it will answer, such as 👀. Telegram accepts only some emoji.",
    ),
    webhookUrl: withHelp(
      z.optional(httpUrl),
      "Address to which Telegram delivers updates; must end in `/telegram-webhook`. If set, steward does not poll.",
    ),
    webhookSecret: withHelp(
      z.optional(secret),
      "Secret that Telegram must send in the header `X-Telegram-Bot-Api-Secret-Token`.",
    ),
    proxy: withHelp(z.optional(httpUrl), "An HTTP proxy for Telegram's API."),
  })
  .check(
    z.refine(hasAllIfOpen, OPEN_RULE),
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
      "Name of the emoji with which the bot reacts to a message that it will answer, such as `eyes`. The app needs the scope `reactions:write`.",
    ),
    textChunkLimit: withHelp(
      z._default(integer(200, 12_000), 4_000),
      "Longest message, in characters; longer replies are split.",
    ),
  })
  .check(z.refine(hasAllIfOpen, OPEN_RULE));

/** Config section `channels.discord`. On the serverless stack, the bot receives commands, but no messages. */
const discord = z
  .strictObject({
    ...access(USER_IDS.discord),
    groupPolicy: withHelp(
      z._default(groupPolicy, "allowlist"),
      "Servers in which the bot answers. By default only those in `guilds`, because anyone may add a public app to a server.",
    ),
    token: secret,
    guilds: withHelp(
      groups(GROUP_IDS.discord),
      "Server ids, or `*` for all others. `requireMention: false` needs the Message Content intent: enable it on the Bot page of the developer portal.",
    ),
    ackReaction: withHelp(
      z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
      "Emoji with which the bot reacts to a message that it will answer, such as 👀, or `name:id` of a server's own emoji.",
    ),
    textChunkLimit: z._default(integer(200, 2_000), 2_000),
  })
  .check(z.refine(hasAllIfOpen, OPEN_RULE));

export const channels = z.prefault(
  z.strictObject({
    telegram: z.optional(telegram),
    slack: z.optional(slack),
    discord: z.optional(discord),
  } satisfies Record<Platform, z.ZodMiniType>),
  {},
);

export type ChannelRules = Omit<
  z.output<typeof slack>,
  "botToken" | "signingSecret" | "channels" | "ackReaction"
>;

export type GroupRules = z.output<typeof group>;
