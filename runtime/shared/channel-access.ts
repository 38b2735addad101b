import type { ChannelRules, GroupRules } from "../contract/config/channels.ts";
import type { Config } from "../contract/config/index.ts";
import type { GrantedRole } from "../contract/config/rights.ts";
import { PLATFORM_TITLES, type Platform, platformSchema } from "../contract/delivery.ts";
import type { Admission } from "../contract/message.ts";
import { AGENT } from "../contract/names.ts";

export type AccessDecision =
  | { allowed: true; admission: Admission; reason: string }
  /**
   * `answer` is the reaction: `ignore` sends nothing, `refuse` explains how to get access, `pair` offers a pairing
   * code.
   */
  | { allowed: false; reason: string; answer: "ignore" | "refuse" | "pair" };

/**
 * Decision about a group message. `context` sends no reply, but shows the message to the model with the next
 * question.
 */
type GroupDecision =
  | { becomes: "message" | "context"; admission: Admission; reason: string }
  /** `unlisted`: the group's id, present if adding it to the config's list would allow the message. */
  | { becomes: "ignored"; reason: string; unlisted?: string };

/** Access check of one channel. Refuses everyone whom no rule admits. Every decision contains a reason. */
export interface ChannelAccess {
  direct(user: string): AccessDecision;
  /**
   * Decides whether a group's message is handled, kept as context, or ignored.
   *
   * @param addressed True if the message mentions the bot or replies to it.
   * @param alias Another id of the group, which the config may list instead.
   */
  group(group: string, user: string, addressed: boolean, alias?: string): GroupDecision;
}

/** Access settings of one channel. `groups` is the config's `channels` on Slack and `guilds` on Discord. */
export interface AccessRules extends Pick<
  ChannelRules,
  "dmPolicy" | "allowFrom" | "groupPolicy" | "groupAllowFrom"
> {
  groups: Readonly<Record<string, GroupRules>>;
  operators: readonly string[];
}

interface Approvals {
  granted(user: string): GrantedRole | undefined;
}

const DEFAULT_GROUP: GroupRules = { enabled: true, requireMention: true };

export function accessRules(config: Config): Partial<Record<Platform, AccessRules>> {
  const { slack, telegram, discord } = config.channels;
  const sections: Record<Platform, Omit<AccessRules, "operators"> | undefined> = {
    slack: slack && { ...slack, groups: slack.channels },
    telegram,
    discord: discord && { ...discord, groups: discord.guilds },
  };
  const rules = platformSchema.options.flatMap((platform) => {
    const section = sections[platform];
    return section ? [[platform, { ...section, operators: namedOperators(config, platform) }] as const] : [];
  });
  return Object.fromEntries(rules);
}

/** Returns the ids that `agent.operators` lists for a platform or the web chat. */
export function namedOperators({ agent }: Config, platform: Platform | "web"): string[] {
  const prefix = `${platform}:`;
  return agent.operators.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
}

/**
 * Returns a channel's access check. It applies the config's rules and, in direct messages, approvals. Changed
 * approvals take effect immediately.
 */
export function channelAccess(rules: AccessRules, pairing: Approvals): ChannelAccess {
  return {
    direct: (user) => directDecision(rules, pairing, user),
    group: (group, user, addressed, alias = group) => groupDecision(rules, [group, alias], user, addressed),
  };
}

function directDecision(
  { dmPolicy, allowFrom, operators }: AccessRules,
  pairing: Approvals,
  user: string,
): AccessDecision {
  if (dmPolicy === "disabled")
    return { allowed: false, reason: "direct messages are disabled", answer: "ignore" };
  const isListed = allowFrom.includes(user);
  const isOpen = allowFrom.includes("*");
  // With the policy `allowlist`, approvals have no effect.
  const approved = dmPolicy === "allowlist" ? undefined : pairing.granted(user);
  // The highest role wins. `*` admits any sender but grants no role.
  if (operators.includes(user) && (isListed || isOpen || approved !== undefined))
    return admitted({ by: "config", grants: "operator" }, "the sender is an operator in the config");
  if (approved === "operator")
    return admitted({ by: "approval", grants: "operator" }, "the sender was approved as an operator");
  if (isListed) return admitted({ by: "config", grants: "person" }, "the sender is on the list");
  if (approved !== undefined)
    return admitted({ by: "approval", grants: "person" }, "the sender was approved");
  if (isOpen) return admitted({ by: "everyone" }, "everyone is allowed");
  if (dmPolicy !== "pairing")
    return { allowed: false, reason: "the sender is not on the list", answer: "refuse" };
  return { allowed: false, reason: "the sender is not approved", answer: "pair" };
}

function admitted(admission: Admission, reason: string): AccessDecision {
  return { allowed: true, admission, reason };
}

function groupDecision(
  rules: AccessRules,
  [group, alias]: readonly [string, string],
  user: string,
  addressed: boolean,
): GroupDecision {
  const ignored = (reason: string) => ({ becomes: "ignored" as const, reason });
  if (rules.groupPolicy === "disabled") return ignored("groups are disabled");
  const named = rules.groups[group] ?? rules.groups[alias] ?? rules.groups["*"];
  if (rules.groupPolicy === "allowlist" && named === undefined)
    return { ...ignored("the group is not on the list"), unlisted: alias };
  const { enabled, requireMention, sendElsewhere = [] } = named ?? DEFAULT_GROUP;
  if (!enabled) return ignored("the group is switched off");
  const people = rules.groupAllowFrom;
  if (people.length > 0 && !people.includes("*") && !people.includes(user))
    return ignored("the sender is not on the group's list");
  const admission: Admission = { by: "group", sendElsewhere };
  if (requireMention && !addressed)
    return { becomes: "context", admission, reason: "the bot was not addressed" };
  const reason = addressed ? "the bot was addressed" : "the group needs no mention";
  return { becomes: "message", admission, reason };
}

const UNREAD = "I do not know you yet, so I have not read your message.";

/** Returns the reply to an unlisted sender: the sender's id, and how the operator can admit the sender. */
export function unknownSenderText(platform: Platform, user: string): string {
  return [
    UNREAD,
    idLine(platform, user),
    `To allow you, the operator adds "${user}" to channels.${platform}.allowFrom in the config file.`,
  ].join("\n");
}

/** Returns the reply to a sender who needs approval. `code` is `undefined` if the list of requests is full. */
export function pairingText(platform: Platform, user: string, code: string | undefined): string {
  const lines =
    code === undefined
      ? [
          `${UNREAD} Too many others are asking at the moment, so I have no code for you.`,
          "Please ask the operator of this bot yourself, and send them your id.",
          idLine(platform, user),
          `For the operator: ${AGENT} pairing grant ${platform} ${user} person`,
        ]
      : [
          UNREAD,
          "The operator of this bot can see your request now. Send them your code, so that they know it is you. It is valid for an hour, and I will write to you when you are let in.",
          `Your pairing code: ${code}`,
          idLine(platform, user),
          `For the operator: ${AGENT} pairing approve ${platform} ${code}`,
        ];
  return lines.join("\n");
}

function idLine(platform: Platform, user: string): string {
  return `Your ${PLATFORM_TITLES[platform]} user id: ${user}`;
}

export const APPROVED_TEXT: Readonly<Record<GrantedRole, string>> = {
  person:
    "You are approved: write to me and I will answer. What you wrote before was not read, so please send it again.",
  operator:
    "You are approved as an operator: write to me and I will answer. What you wrote before was not read, so please send it again.",
};

/** Returns the reply to a command in an unlisted server. */
export function unknownGuildText(guild: string): string {
  return [
    "This server is not on my list, so I have not read your command.",
    `The server's id: ${guild}`,
    `To allow it, the operator adds "${guild}" to channels.discord.guilds: /_admin/ledger has a link for this next to the command.`,
  ].join("\n");
}
