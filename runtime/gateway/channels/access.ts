import type { Admission } from "../../contract/message.ts";
import type { ChannelRules, GroupRules } from "../../contract/config/channels.ts";
import { PLATFORM_TITLES, type Platform } from "../../contract/delivery.ts";
import type { PairingStore } from "../pairing/store.ts";
import type { AccessDecision } from "./channel.ts";

/** Decision about a group's message: it is answered, kept as context of a later answer, or left. */
type GroupDecision =
  | { becomes: "message" | "context"; admission: Admission; reason: string }
  /** `unlisted`: the group that would have to be listed for the message to be answered. */
  | { becomes: "ignored"; reason: string; unlisted?: string };

/** Access list of one channel: who may write to the bot. Every decision fails closed and carries its reason. */
export interface ChannelAccess {
  /** Tells whether the person with this id may write a direct message. */
  direct(user: string): AccessDecision;
  /**
   * `addressed`: the bot was mentioned, or the message replies to one of its own. `alias`: another id of the group, which
   * may be listed in its place.
   */
  group(group: string, user: string, addressed: boolean, alias?: string): GroupDecision;
}

/** The part of a channel's config that decides. `groups` is `channels` on Slack and `guilds` on Discord. */
export interface AccessRules extends Pick<
  ChannelRules,
  "dmPolicy" | "allowFrom" | "groupPolicy" | "groupAllowFrom"
> {
  groups: Readonly<Record<string, GroupRules>>;
  /** Ids that `agent.operators` names on this platform. */
  operators: readonly string[];
}

/** The store that approvals are read from. */
type Approvals = Pick<PairingStore, "granted">;

const DEFAULT_GROUP: GroupRules = { enabled: true, requireMention: true };

/**
 * Decides by the config and, for direct messages, by approvals; what was granted in a direct message grants nothing in
 * a group. Approvals are read each time, so that they count at once.
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
  // Under `allowlist` the config alone decides.
  const approved = dmPolicy === "allowlist" ? undefined : pairing.granted(user);
  // The most that was granted comes first: `*` lets in, and grants nothing.
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

/** Returns the answer to a sender who is not on the list: its own id, and what the operator does with it. */
export function unknownSenderText(platform: Platform, user: string): string {
  return [
    "I do not know you yet, so I have not read your message.",
    `Your ${PLATFORM_TITLES[platform]} user id: ${user}`,
    `To allow you, the operator adds "${user}" to channels.${platform}.allowFrom in the config file.`,
  ].join("\n");
}
