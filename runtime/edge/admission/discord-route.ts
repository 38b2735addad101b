import { StewardError } from "../../contract/errors.ts";
import { isDiscordCommand, isPrivateAnswer } from "../../contract/discord-commands.ts";
import type { Clock } from "../ports.ts";
import { sendProblem } from "../problems.ts";
import { parseJsonObject, readJsonText } from "./body.ts";
import {
  AUTOCOMPLETE,
  commandInteraction,
  discordDelivery,
  interaction,
  PING,
  verifyDiscord,
} from "./discord.ts";
import type { WebhookOptions } from "./webhook.ts";

/** Callback types: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type */
const PONG = 1;
const MESSAGE = 4;
const DEFERRED_MESSAGE = 5;
const AUTOCOMPLETE_RESULT = 8;
/** Only the person who asked sees the message. */
const EPHEMERAL = 64;

/** What {@link discordInteractions} works with. */
export interface DiscordInteractionsOptions {
  /** 64 hexadecimal digits. */
  publicKey: string | undefined;
  clock: Clock;
}

/**
 * Reads Discord's interactions. A command is on disk before its deferred answer goes out, also while the
 * gateway is down: Discord waits three seconds, never asks again, and takes the reply for 15 minutes.
 *
 * A wrong signature is answered with 401 in every state: Discord sends one on purpose when the endpoint
 * is set and from time to time after that, and removes an endpoint that answers otherwise.
 * https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint
 */
export function discordInteractions({
  publicKey,
  clock,
}: DiscordInteractionsOptions): Pick<WebhookOptions, "read" | "recorded"> {
  return {
    async read(request) {
      const text = await readJsonText(request);
      if (publicKey === undefined) {
        throw new StewardError("channel_not_configured", "DISCORD_PUBLIC_KEY is not set.");
      }
      const signed = {
        body: text,
        timestamp: request.headers.get("x-signature-timestamp"),
        signature: request.headers.get("x-signature-ed25519"),
      };
      if (!(await verifyDiscord(publicKey, signed, clock()))) {
        return { kind: "answer", response: sendProblem("signature_invalid", undefined, { status: 401 }) };
      }
      const value = parseJsonObject(text);
      const kind = interaction.safeParse(value);
      if (!kind.success) throw new StewardError("body_invalid", "The body is not an interaction.");
      if (kind.data.type === PING) return { kind: "answer", response: Response.json({ type: PONG }) };
      const command = commandInteraction.safeParse(value);
      if (!command.success || !isDiscordCommand(command.data.data.name)) {
        return { kind: "answer", response: unsupported(kind.data.type) };
      }
      return { kind: "event", delivery: discordDelivery(command.data, clock()) };
    },
    recorded(_ready, { payload }) {
      const command = commandInteraction.parse(payload);
      const hidden = isPrivateAnswer(command.data.name, command.guild_id !== undefined);
      return Response.json({ type: DEFERRED_MESSAGE, ...(hidden && { data: { flags: EPHEMERAL } }) });
    },
  };
}

/** What is not a command that is offered: buttons, forms, menus, and commands of an earlier registration. */
function unsupported(type: number): Response {
  if (type === AUTOCOMPLETE) return Response.json({ type: AUTOCOMPLETE_RESULT, data: { choices: [] } });
  const content = "I do not support this. Use /ask, or /help for what I understand.";
  return Response.json({ type: MESSAGE, data: { content, flags: EPHEMERAL } });
}
