import type { Config } from "../../contract/config.ts";
import type { Platform } from "../../contract/control.ts";
import type { PairingStore } from "../pairing/store.ts";
import type { AccessDecision } from "./channel.ts";
import { PLATFORM_TITLES } from "./titles.ts";

/** The part of a channel's config that decides on direct messages; it is the same on every platform. */
type DirectMessageRules = Pick<NonNullable<Config["channels"]["slack"]>, "dmPolicy" | "allowFrom">;

/** Whether the person with this id may write a direct message. */
export type DirectMessageAccess = (user: string) => AccessDecision;

/**
 * Decides on direct messages by the config and, under `pairing`, by who was approved. Fails closed:
 * whoever is not named is not answered. The approved senders are read each time, so that an approval
 * counts at once.
 */
export function directMessageAccess(
  { dmPolicy, allowFrom }: DirectMessageRules,
  pairing: Pick<PairingStore, "approved">,
): DirectMessageAccess {
  return (user) => {
    if (dmPolicy === "disabled")
      return { allowed: false, reason: "direct messages are disabled", answer: "ignore" };
    if (allowFrom.includes("*")) return { allowed: true, reason: "everyone is allowed" };
    if (allowFrom.includes(user)) return { allowed: true, reason: "the sender is on the list" };
    if (dmPolicy !== "pairing")
      return { allowed: false, reason: "the sender is not on the list", answer: "refuse" };
    if (pairing.approved().includes(user)) return { allowed: true, reason: "the sender was approved" };
    return { allowed: false, reason: "the sender is not approved", answer: "pair" };
  };
}

/** What a sender who is not on the list is told: its own id, and what the operator does with it. */
export function unknownSenderText(platform: Platform, user: string): string {
  return [
    "I do not know you yet, so I have not read your message.",
    `Your ${PLATFORM_TITLES[platform]} user id: ${user}`,
    `To allow you, the operator adds "${user}" to channels.${platform}.allowFrom in the config file and restarts the gateway.`,
  ].join("\n");
}
