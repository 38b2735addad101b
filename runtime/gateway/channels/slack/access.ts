import type { Config } from "../../../contract/config.ts";
import type { AccessDecision } from "../channel.ts";

type SlackConfig = NonNullable<Config["channels"]["slack"]>;

/**
 * Whether a person may write a direct message. Fails closed: whoever is not named is refused.
 * A mention in a channel is not decided here: the workspace decides who is in a channel with the bot.
 */
export function directMessageAccess(
  user: string,
  { dmPolicy, allowFrom }: Pick<SlackConfig, "dmPolicy" | "allowFrom">,
): AccessDecision {
  if (dmPolicy === "disabled") return { allowed: false, reason: "direct messages are disabled" };
  if (allowFrom.includes("*")) return { allowed: true, reason: "everyone is allowed" };
  if (allowFrom.includes(user)) return { allowed: true, reason: "the sender is on the list" };
  return { allowed: false, reason: "the sender is not on the list" };
}

/** What an unknown sender is told: its own id, and what the operator does with it. */
export function unknownSenderText(user: string): string {
  return [
    "I do not know you yet, so I have not read your message.",
    `Your Slack user id: ${user}`,
    `To allow you, the operator adds "${user}" to channels.slack.allowFrom in the config file and restarts the gateway.`,
  ].join("\n");
}
