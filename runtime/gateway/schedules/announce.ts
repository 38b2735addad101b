import type { Admission, ReplyTarget } from "../../contract/message.ts";
import type { Platform } from "../../contract/delivery.ts";
import { sessionOf } from "../channels/channel.ts";
import type { InTurn } from "../inbox/chat-queues.ts";
import type { DeliveryRecords } from "../inbox/records.ts";
import type { Replies } from "../inbox/replies.ts";
import { StewardError } from "../../contract/errors.ts";
import { RefusedError, RetryableError } from "../failure.ts";
import type { Components } from "../components.ts";

/** Something that is said in a chat without being asked there. Exactly one of `text` and `prompt`. */
export interface AnnounceRequest {
  /** Like a delivery's: what was said under it is not said again. */
  id: string;
  platform: Platform;
  target: ReplyTarget;
  text?: string;
  /** Put to the agent, whose answer is said. */
  prompt?: string;
  /** An answer of the agent that means: say nothing. */
  silence?: string;
  /** Name of the prompt's sender. */
  name: string;
  /** Decides on the rights of the answer. */
  admission: Admission;
}

/** Outcome of it. */
type Said = "said" | "nothing to say";

/**
 * Says something, in turn with the messages of its chat.
 *
 * @throws StewardError what no answer could be made of, or why the chat does not take it; another attempt, under the
 * same id, may help.
 */
export type Announce = (request: AnnounceRequest, signal: AbortSignal) => Promise<Said>;

/** Dependencies of {@link createAnnounce}. */
export interface AnnounceOptions {
  /** Asked at the start of each, which then stays with what it got. */
  parts(): Pick<Components, "channels" | "agent">;
  records: DeliveryRecords;
  replies: Pick<Replies, "say">;
  inTurn: InTurn;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Says things through the channels and the agent, message by message as a reply is sent. */
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
