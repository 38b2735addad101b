import * as z from "zod/mini";
import { withHelp } from "../../../contract/config/values.ts";
import { type Platform, platformSchema } from "../../../contract/delivery.ts";
import type { Actions, Button } from "../../actions.ts";
import type { Channels } from "../../channels/registry.ts";
import { WEB, type WebOutbox } from "../../webchat/outbox.ts";
import { defineTool, ToolError, type Tool } from "./tool.ts";

/** Milliseconds for which the buttons work: enough to answer later in the day. */
const VALID_MS = 24 * 3_600_000;

interface AskChoicesOptions {
  channels: Pick<Channels, "get">;
  outbox: Pick<WebOutbox, "ask">;
  actions: Pick<Actions, "offer">;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/**
 * Creates a tool that asks a person to choose, with buttons or a list. The choice arrives as the person's next
 * message, with that person's rights.
 */
export function askChoicesTool({ channels, outbox, actions, clock }: AskChoicesOptions): Tool {
  return defineTool({
    name: "ask_choices",
    description:
      "Asks the person a question with two to eight choices. The choice arrives as the person's next message: end your answer without waiting for it.",
    input: z.strictObject({
      question: z.string().check(z.trim(), z.minLength(1), z.maxLength(1_000)),
      choices: withHelp(
        z
          .array(z.string().check(z.trim(), z.minLength(1), z.maxLength(60)))
          .check(z.minLength(2), z.maxLength(8)),
        "Each is what the person would say",
      ),
    }),
    run: async ({ question, choices }, { session, platform, target, delivery, asker }) => {
      const channel = channels.get(platformSchema.safeParse(platform).data ?? "slack");
      if ((platform !== WEB && channel?.platform !== platform) || asker === undefined)
        throw new ToolError("There are no buttons here. Write the choices as a list into your answer.");
      const offer = (on: Platform | typeof WEB): Button[] =>
        actions.offer({
          platform: on,
          by: asker,
          choices: choices.map((text) => ({ label: text, action: { does: "say", text } })),
          expiresAt: clock() + VALID_MS,
        });
      // Send the question without Discord's ticket, which is reserved for the answer.
      const { ticket: _, ...place } = target;
      if (platform === WEB) {
        outbox.ask(session, delivery, { question, buttons: offer(WEB) });
      } else if (channel?.answerPress !== undefined) {
        await channel.send(place, question, 0, offer(channel.platform));
      } else {
        await channel?.send(place, [question, ...choices.map((choice) => `- ${choice}`)].join("\n"));
        return "Asked, as a list.";
      }
      return "Asked, with a button for each choice.";
    },
  });
}
