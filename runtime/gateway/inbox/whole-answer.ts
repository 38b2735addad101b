import type { Delivery, DeliveryOutcome } from "../../contract/delivery.ts";
import type { ReplyTarget } from "../../contract/message.ts";
import type { Log } from "../../shared/log.ts";
import type { Actions } from "../actions.ts";
import { type Channel, sessionOf, type OutgoingFile } from "../channels/channel.ts";
import { RefusedError } from "../failure.ts";
import type { DeliveryRecords } from "./records.ts";

/** Longer answers are also offered as a file, to save people from assembling the messages. */
const MOST_MESSAGES = 3;
const OFFER_MS = 7 * 24 * 3_600_000;
const OFFER_TEXT = "The complete answer as a file:";
const REFUSED_TEXT = "I could not send the file: this chat does not accept it.";

type Key = Pick<Delivery, "platform" | "id">;

/** A sent answer, and the delivery it is stored under. */
interface SentAnswer {
  key: Key;
  channel: Channel;
  target: ReplyTarget;
  /** Id of the person who asked. */
  by: string;
  text: string;
  /** Number of messages that it was sent as. */
  messages: number;
}

/**
 * Offers an answer of many messages as a file: by a button, or as the file itself if the platform has no buttons. Best
 * effort: the answer has been sent already.
 */
export async function offerWhole(
  { actions, clock, log }: { actions: Pick<Actions, "offer">; clock(): number; log: Log },
  { key: { platform, id }, channel, target, by, text, messages }: SentAnswer,
): Promise<void> {
  if (channel.files === undefined || messages <= MOST_MESSAGES) return;
  try {
    if (channel.answerPress === undefined) return await channel.files.send(target, wholeAnswer(text));
    const session = sessionOf(platform, target);
    const buttons = actions.offer({
      platform,
      by,
      choices: [{ label: "As a file", action: { does: "file", session, delivery: id } }],
      expiresAt: clock() + OFFER_MS,
    });
    await channel.send(target, OFFER_TEXT, 0, buttons);
  } catch (error) {
    log.warn("a long answer is not offered as a file", { id, error: String(error) });
  }
}

/** Sends an answer as a file after a button press. @throws RetryableError if the platform does not accept it now. */
export async function sendWhole(
  { records, clock }: { records: DeliveryRecords; clock(): number },
  { key, channel, target, text }: Omit<SentAnswer, "by" | "messages">,
): Promise<DeliveryOutcome> {
  try {
    await channel.files?.send(target, wholeAnswer(text));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (!error.gone) await channel.send(target, REFUSED_TEXT).catch(() => undefined);
    return { outcome: error.gone ? "ignored" : "failed", note: `not sent: ${error.message}` };
  }
  records.answer(key.platform, [key.id], clock());
  return { outcome: "answered" };
}

function wholeAnswer(text: string): OutgoingFile {
  return { name: "answer.md", mediaType: "text/markdown", data: new TextEncoder().encode(text) };
}
