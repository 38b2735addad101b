import { snowflake } from "../../../rehearsal/standins/discord-message.ts";
import { command } from "../../support/discord.ts";
import type { Fields } from "./client.ts";

/** The specification's test POST: unsigned. */
export const CHALLENGE = {
  type: "url_verification",
  challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
};
/** https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-acknowledging-ping-requests */
export const PING = { id: "1", application_id: "2", type: 1, token: "unused", version: 1 };

const PERSON = { id: 123456789, is_bot: false, first_name: "Ada", username: "ada" };
let updates = 10_000;

/** Ada's message in her private chat, as https://core.telegram.org/bots/api#update has it. */
export function update(text: string): Fields {
  updates += 1;
  const chat = { id: PERSON.id, type: "private", first_name: "Ada", username: "ada" };
  const date = Math.floor(Date.now() / 1_000);
  return { update_id: updates, message: { message_id: updates, date, from: PERSON, chat, text } };
}

/** The server of {@link discordCommand}. */
export const GUILD = "290926798626357999";

/** A command of Discord's with a token of its own, under which its answer is filled in. */
export function discordCommand(text: string, token: string, applicationId: string): Fields {
  updates += 1;
  return command(text, {
    id: snowflake(Date.now(), updates % 4_096),
    token,
    application_id: applicationId,
  });
}
