import type { ReplyTarget } from "../../contract/message.ts";
import type { DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import type { Channel } from "../channels/channel.ts";
import type { Report } from "../contract-report.ts";
import { RefusedError, RetryableError } from "../failure.ts";
import type { DeliveryRecords } from "./records.ts";

/** A reply on its way out. */
export interface Outgoing {
  platform: Platform;
  channel: Channel;
  /** The delivery that the reply is kept under, and all that it answers. */
  owner: string;
  ids: readonly string[];
  target: ReplyTarget;
  /** Texts of its messages, as the channel splits a reply. */
  parts: readonly string[];
  draft?: Grown;
  signal?: AbortSignal;
}

/** The message in which a reply has grown. */
interface Grown {
  id: string;
  /** Text that it shows, where that is known. */
  shown: string;
}

/**
 * Sends what of a reply is not out yet, and notes each message once the platform has it. With the last of them all
 * deliveries that the reply answers are noted as answered. What the chat does not take, today or tomorrow, is `failed`,
 * or `ignored` if nobody is there to read it; a replay tries it again.
 *
 * @throws RetryableError where the platform does not take a message, or the work was ended.
 */
export async function send(
  { records, report, clock }: { records: DeliveryRecords; report: Report; clock(): number },
  { platform, channel, owner, ids, target, parts, draft, signal }: Outgoing,
): Promise<DeliveryOutcome> {
  const key = { platform, id: owner };
  const { sent, answered } = records.of(key);
  try {
    for (const [index, part] of parts.entries()) {
      if (answered || index < sent) continue;
      if (signal?.aborted) throw new RetryableError("gateway_unavailable", "The reply was broken off.");
      if (index === 0 && draft !== undefined) await finishDraft(channel, target, part, draft);
      else await channel.send(target, part, index);
      if (index + 1 < parts.length) records.sent(key, index + 1, clock());
    }
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === "reply_refused")) throw error;
    if (!error.gone) report("answer", `${platform}: ${error.message}`);
    return { outcome: error.gone ? "ignored" : "failed", note: `not sent: ${error.message}` };
  }
  records.answer(platform, [...new Set([...ids, owner])], clock());
  return { outcome: "answered" };
}

/** Makes the last edit. Only if the platform refuses it is the text sent as a new message, so that it appears once. */
async function finishDraft(
  channel: Channel,
  target: ReplyTarget,
  text: string,
  { id, shown }: Grown,
): Promise<void> {
  if (shown === text) return;
  try {
    await channel.edit?.(target, id, text);
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === "edit_refused")) throw error;
    await channel.send(target, text, 0);
  }
}
