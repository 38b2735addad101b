import type { Admission, ReplyTarget } from "../../contract/message.ts";
import type { Platform } from "../../contract/delivery.ts";
import { sessionOf } from "../channels/channel.ts";
import type { InTurn } from "../inbox/chat-queues.ts";
import type { DeliveryRecords } from "../inbox/records.ts";
import type { Replies } from "../inbox/replies.ts";
import { StewardError } from "../../contract/errors.ts";
import { RefusedError, RetryableError } from "../failure.ts";
import type { Components } from "../components.ts";

/** A message that nobody in the chat asked for. Has either `text` or `prompt`. */
export interface AnnounceRequest {
  /** Like a delivery's id: a message with the same id is sent only once. */
  id: string;
  platform: Platform;
  target: ReplyTarget;
  text?: string;
  /** Given to the agent, whose answer is sent. */
  prompt?: string;
  /** If the agent's answer is this text, nothing is sent. */
  silence?: string;
  /** The prompt's sender name. */
  name: string;
  /** Determines the rights of the prompt. */
  admission: Admission;
}

/** Result of an announcement. */
type Said = "said" | "nothing to say";

/**
 * Sends an announcement, in order with the chat's other messages. @throws StewardError if no answer could be generated
 * or the chat does not accept it; retrying with the same id may help.
 */
export type Announce = (request: AnnounceRequest, signal: AbortSignal) => Promise<Said>;

/** Dependencies of {@link createAnnounce}. */
export interface AnnounceOptions {
  /** Read at the start of each announcement, which then keeps using the result. */
  parts(): Pick<Components, "channels" | "agent">;
  records: DeliveryRecords;
  replies: Pick<Replies, "say">;
  inTurn: InTurn;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Sends announcements through the channels and the agent, recording each message like a reply's. */
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
      const detail = `The config file has no channel that is served here for ${platform}.`;
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
