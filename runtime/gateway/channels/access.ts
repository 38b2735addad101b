import type { ChannelRules, GroupRules } from "../../contract/config/channels.ts";
import { PLATFORM_TITLES, type Platform } from "../../contract/delivery.ts";
import type { PairingStore } from "../pairing/store.ts";
import type { AccessDecision } from "./channel.ts";

/** Decision about a group's message: it is answered, kept as context of a later answer, or left. */
interface GroupDecision {
  becomes: "message" | "context" | "ignored";
  reason: string;
  /** The group that would have to be listed for the message to be answered. */
  unlisted?: string;
}

/** Access list of one channel: who may write to the bot. Every decision fails closed and carries its reason. */
export interface ChannelAccess {
  /** Tells whether the person with this id may write a direct message. */
  direct(user: string): AccessDecision;
  /** `addressed`: the bot was mentioned, or the message replies to one of its own. */
  group(group: string, user: string, addressed: boolean): GroupDecision;
}

/** The part of a channel's config that decides. `groups` is `channels` on Slack and `guilds` on Discord. */
export interface AccessRules extends Pick<
  ChannelRules,
  "dmPolicy" | "allowFrom" | "groupPolicy" | "groupAllowFrom"
> {
  groups: Readonly<Record<string, GroupRules>>;
}

const DEFAULT_GROUP: GroupRules = { enabled: true, requireMention: true };

/**
 * Decides by the config and, for direct messages under `pairing`, by who was approved; what was granted
 * in a direct message grants nothing in a group. The approved senders are read each time, so that an
 * approval counts at once.
 */
export function channelAccess(rules: AccessRules, pairing: Pick<PairingStore, "approved">): ChannelAccess {
  return {
    direct: (user) => directDecision(rules, pairing, user),
    group: (group, user, addressed) => groupDecision(rules, group, user, addressed),
  };
}

function directDecision(
  { dmPolicy, allowFrom }: AccessRules,
  pairing: Pick<PairingStore, "approved">,
  user: string,
): AccessDecision {
  if (dmPolicy === "disabled")
    return { allowed: false, reason: "direct messages are disabled", answer: "ignore" };
  if (allowFrom.includes("*")) return { allowed: true, reason: "everyone is allowed" };
  if (allowFrom.includes(user)) return { allowed: true, reason: "the sender is on the list" };
  if (dmPolicy !== "pairing")
    return { allowed: false, reason: "the sender is not on the list", answer: "refuse" };
  if (pairing.approved().includes(user)) return { allowed: true, reason: "the sender was approved" };
  return { allowed: false, reason: "the sender is not approved", answer: "pair" };
}

function groupDecision(rules: AccessRules, group: string, user: string, addressed: boolean): GroupDecision {
  const ignored = (reason: string): GroupDecision => ({ becomes: "ignored", reason });
  if (rules.groupPolicy === "disabled") return ignored("groups are disabled");
  const named = rules.groups[group] ?? rules.groups["*"];
  if (rules.groupPolicy === "allowlist" && named === undefined)
    return { ...ignored("the group is not on the list"), unlisted: group };
  const { enabled, requireMention } = named ?? DEFAULT_GROUP;
  if (!enabled) return ignored("the group is switched off");
  const people = rules.groupAllowFrom;
  if (people.length > 0 && !people.includes("*") && !people.includes(user))
    return ignored("the sender is not on the group's list");
  if (requireMention && !addressed) return { becomes: "context", reason: "the bot was not addressed" };
  return { becomes: "message", reason: addressed ? "the bot was addressed" : "the group needs no mention" };
}

/** Returns the answer to a sender who is not on the list: its own id, and what the operator does with it. */
export function unknownSenderText(platform: Platform, user: string): string {
  return [
    "I do not know you yet, so I have not read your message.",
    `Your ${PLATFORM_TITLES[platform]} user id: ${user}`,
    `To allow you, the operator adds "${user}" to channels.${platform}.allowFrom in the config file.`,
  ].join("\n");
}
