import type { ReplyTarget } from "../../contract/message.ts";
import type { DeliveryOutcome, Platform, Delivery } from "../../contract/delivery.ts";
import { type Channel, sessionOf, type OutgoingFile } from "../channels/channel.ts";
import type { Report } from "../contract-report.ts";
import { RefusedError, RetryableError } from "../failure.ts";
import type { DeliveryRecords } from "./records.ts";
import type { Log } from "../../shared/log.ts";
import type { Actions } from "../actions.ts";

export interface Outgoing {
  platform: Platform;
  channel: Channel;
  /** Delivery under which the reply is recorded. */
  owner: string;
  ids: readonly string[];
  target: ReplyTarget;
  /** The reply's text, split into messages. */
  parts: readonly string[];
  draft?: Grown;
  signal?: AbortSignal;
}

/** Message that shows the partial reply. */
interface Grown {
  id: string;
  /** Text of the last successful edit; empty if unknown. */
  shown: string;
}

/**
 * Sends the rest of a reply. Records each message that the platform accepts, so that a retry continues after it. The
 * outcome is `answered`, `failed` if the chat refuses the reply for good, or `ignored` if the chat is gone.
 *
 * @throws RetryableError if the platform cannot accept a message now, or if `signal` has aborted.
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
      if (signal?.aborted) throw new RetryableError("gateway_unavailable", "The reply was interrupted.");
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

/** Completes the draft with a last edit. Sends a new message only if the platform refuses the edit. */
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

/** Number of messages above which an answer is also offered as a file. */
const MAX_MESSAGES = 3;
const OFFER_MS = 7 * 24 * 3_600_000;
const OFFER_TEXT = "The complete answer as a file:";
const REFUSED_TEXT = "I could not send the file: this chat does not accept it.";

type Key = Pick<Delivery, "platform" | "id">;

interface SentAnswer {
  key: Key;
  channel: Channel;
  target: ReplyTarget;
  /** Id of the person who asked. */
  by: string;
  text: string;
  messages: number;
}

/**
 * Offers a long answer as a file, or sends the file if the platform has no buttons. Logs errors instead of throwing
 * them, because the answer has already been sent.
 */
export async function offerAsFile(
  { actions, clock, log }: { actions: Pick<Actions, "offer">; clock(): number; log: Log },
  { key: { platform, id }, channel, target, by, text, messages }: SentAnswer,
): Promise<void> {
  if (channel.files === undefined || messages <= MAX_MESSAGES) return;
  try {
    if (channel.answerPress === undefined) return await channel.files.send(target, answerFile(text));
    const session = sessionOf(platform, target);
    const buttons = actions.offer({
      platform,
      by,
      choices: [{ label: "As a file", action: { does: "file", session, delivery: id } }],
      expiresAt: clock() + OFFER_MS,
    });
    await channel.send(target, OFFER_TEXT, 0, buttons);
  } catch (error) {
    log.warn("a long answer could not be offered as a file", { id, error: String(error) });
  }
}

/**
 * Sends an answer as a file after a button press.
 *
 * @throws RetryableError if the platform cannot accept the file now.
 */
export async function sendAsFile(
  { records, clock }: { records: DeliveryRecords; clock(): number },
  { key, channel, target, text }: Omit<SentAnswer, "by" | "messages">,
): Promise<DeliveryOutcome> {
  try {
    await channel.files?.send(target, answerFile(text));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (!error.gone) await channel.send(target, REFUSED_TEXT).catch(() => undefined);
    return { outcome: error.gone ? "ignored" : "failed", note: `not sent: ${error.message}` };
  }
  records.answer(key.platform, [key.id], clock());
  return { outcome: "answered" };
}

function answerFile(text: string): OutgoingFile {
  return { name: "answer.md", mediaType: "text/markdown", data: new TextEncoder().encode(text) };
}
