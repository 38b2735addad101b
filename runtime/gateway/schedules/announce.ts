import type { Admission, ReplyTarget } from "../../contract/message.ts";
import type { Platform } from "../../contract/delivery.ts";
import { sessionOf } from "../channels/channel.ts";
import type { InTurn } from "../inbox/chat-queues.ts";
import type { DeliveryRecords } from "../inbox/records.ts";
import type { Replies } from "../inbox/replies.ts";
import { StewardError } from "../../contract/errors.ts";
import { RefusedError, RetryableError } from "../failure.ts";
import type { Components } from "../components.ts";

/** A message that the bot sends to a chat without being asked there. Has either `text` or `prompt`. */
export interface AnnounceRequest {
  /** Id for deduplication: a message with the same id is sent only once. */
  id: string;
  platform: Platform;
  target: ReplyTarget;
  text?: string;
  /** Prompt for the agent. Its answer is sent instead of `text`. */
  prompt?: string;
  /** Answer with which the agent declines to send a message. */
  silence?: string;
  name: string;
  /** Determines the rights with which the prompt runs. */
  admission: Admission;
}

type Said = "said" | "nothing to say";

/**
 * Sends an announcement, in order with the chat's other messages.
 *
 * @throws StewardError if the agent generates no answer or the chat refuses the message. A retry with the same id may
 * succeed.
 */
export type Announce = (request: AnnounceRequest, signal: AbortSignal) => Promise<Said>;

export interface AnnounceOptions {
  parts(): Pick<Components, "channels" | "agent">;
  records: DeliveryRecords;
  replies: Pick<Replies, "say">;
  inTurn: InTurn;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Creates a function that sends announcements and records each like a reply. */
export function createAnnounce({ parts, records, replies, inTurn, clock }: AnnounceOptions): Announce {
  const text = async (
    { id, platform, target, name, admission, text, prompt }: AnnounceRequest,
    signal: AbortSignal,
  ) => {
    if (text !== undefined) return text;
    const answer = await parts().agent.answer(
      {
        session: sessionOf(platform, target),
        platform,
        target,
        direct: false,
        messages: [
          {
            delivery: id,
            sender: { id: `schedule:${name}`, name },
            admission,
            text: prompt ?? "",
            images: [],
          },
        ],
      },
      { signal },
    );
    const { failure } = answer;
    if (failure !== undefined) throw new StewardError(failure.code, failure.detail);
    return answer.text;
  };

  return async (request, signal) => {
    const { platform, target, silence } = request;
    const channel = parts().channels.get(platform);
    if (channel === undefined) {
      const detail = `The config file has no channel for ${platform} that this gateway serves.`;
      throw new RetryableError("channel_not_configured", detail);
    }
    return inTurn(sessionOf(platform, target), async () => {
      if (signal.aborted) throw new RetryableError("gateway_unavailable", "The gateway is stopping.");
      if (records.of(request).answered) return "said";
      const words = await text(request, signal);
      if (words.trim() === silence) {
        records.answer(platform, [request.id], clock());
        return "nothing to say";
      }
      const { outcome, note } = await replies.say(request, channel, target, words);
      if (outcome !== "answered") throw new RefusedError("reply_refused", note ?? outcome);
      return "said";
    });
  };
}
