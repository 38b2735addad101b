import type { InboundMessage, ReplyTarget } from "../../contract/message.ts";
import type { Delivery, DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import type { ErrorCode, Reason } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Actions, Button } from "../actions.ts";
import type { Agent, AgentAnswer, Question, QuestionMessage } from "../agent/agent.ts";
import { type Channel, sessionOf } from "../channels/channel.ts";
import type { Report } from "../contract-report.ts";
import { RefusedError, RetryableError } from "../failure.ts";
import { readMessages, type ReadOptions } from "./attachments.ts";
import { Draft } from "./draft.ts";
import { givenUpText, UNHEARD_TEXTS, waitText } from "./notices.ts";
import { send, offerAsFile } from "./outgoing.ts";
import { type DeliveryRecord, type DeliveryRecords, recordName, type FirstWords } from "./records.ts";

/** Milliseconds between typing indicators. Platforms show one for 5 s (Telegram) to 10 s (Discord). */
const REFRESH_MS = 6_000;

const BUTTON_MS = 24 * 3_600_000;

interface RepliesOptions {
  records: DeliveryRecords;
  firstWords: FirstWords;
  actions: Pick<Actions, "offer">;
  report: Report;
  reading(): Pick<ReadOptions, "media" | "contextTokens">;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

export interface UnansweredMessage extends InboundMessage {
  /** The platform's event id. */
  id: string;
  /** True on the last attempt. */
  last?: boolean | undefined;
}

/** Error codes of configured limits, which stop a message before it reaches the model. */
export const DELIBERATE_LIMITS: ReadonlySet<ErrorCode> = new Set([
  "token_limit_reached",
  "message_limit_reached",
]);

/** Button that sends `text` on behalf of the person `by`. */
interface SayButton {
  label: string;
  by: string;
  text: string;
}

type Key = Pick<Delivery, "platform" | "id">;

interface ReplyContext {
  platform: Platform;
  channel: Channel;
  agent: Pick<Agent, "answer">;
  signal: AbortSignal;
  /** Called before the first text of the answer is sent. */
  onBegun?(): void;
}

export class Replies {
  readonly #options: RepliesOptions;

  constructor(options: RepliesOptions) {
    this.#options = options;
  }

  /**
   * Answers messages with one reply in the last message's chat. Returns one outcome per message. If one message has a
   * stored answer, all must have the same one.
   */
  async answer(
    asked: readonly [UnansweredMessage, ...UnansweredMessage[]],
    { platform, channel, agent, signal, onBegun }: ReplyContext,
  ): Promise<DeliveryOutcome[]> {
    const { records, clock, log } = this.#options;
    const started = clock();
    const last = asked.at(-1) ?? asked[0];
    const ids = asked.map(({ id }) => id);
    const heard = (): void => this.#recordFirstWord(platform, ids);
    records.take(platform, ids, last.target, started);
    for (const { target, message } of asked) if (message !== undefined) void channel.react?.(target, message);
    const before = records.of({ platform, id: last.id });
    const context = { platform, channel, agent, signal, ...(onBegun && { onBegun }) };
    const made = await this.#ask(asked, before, { ...context, heard }).catch((error: unknown) =>
      this.#postpone(asked, error, context),
    );
    onBegun?.();
    if (made.failure !== undefined) return this.#fail(asked, made.text, made.failure, context);
    const { text, delivery: owner, shown } = made;

    const place = ids.indexOf(owner);
    // If the answer belongs to a delivery that is not in `asked`, `take` may have moved that delivery's draft to
    // `last`. Move the draft back.
    if (place === -1) records.moveDraft(platform, last.id, owner, clock());
    const record = records.of({ platform, id: owner });
    const parts = channel.split(text);
    const sent = await send(this.#options, {
      platform,
      channel,
      owner,
      ids,
      target: resumeTarget(record, (asked[place] ?? last).target),
      parts,
      ...(record.draft !== undefined && { draft: { id: record.draft, shown } }),
      signal,
    });
    heard();
    for (const { id, target: unanswered } of asked) {
      if (id !== owner) await dismiss(channel, unanswered);
    }
    if (sent.outcome === "answered") {
      const { target, sender } = asked[place] ?? last;
      const key = { platform, id: owner };
      const messages = parts.length;
      await offerAsFile(this.#options, { key, channel, target, by: sender.id, text, messages });
    }
    const told = { id: owner, platform, kind: "message", messages: asked.length, ms: clock() - started };
    if (sent.note === undefined) log.info("event answered", told);
    else log.warn("a reply could not be sent", { ...told, note: sent.note });
    const together = `answered together with ${owner}`;
    return asked.map(({ id }) =>
      id === owner || sent.outcome !== "answered" ? sent : { ...sent, note: together },
    );
  }

  async say(
    { platform, id }: Pick<Delivery, "platform" | "id">,
    channel: Channel,
    target: ReplyTarget,
    text: string,
  ): Promise<DeliveryOutcome> {
    return send(this.#options, {
      platform,
      channel,
      owner: id,
      ids: [id],
      target,
      parts: channel.split(text),
    });
  }

  async #ask(
    asked: readonly [UnansweredMessage, ...UnansweredMessage[]],
    before: DeliveryRecord,
    { platform, channel, agent, signal, onBegun, heard }: ReplyContext & { heard(): void },
  ): Promise<AgentAnswer & { shown: string }> {
    const last = asked.at(-1) ?? asked[0];
    const stopTyping = showTyping(channel, last.target);
    const draft = this.#draft(last, before, { platform, channel, heard });
    try {
      const options = { channel, ...this.#options.reading(), signal };
      const { messages: read, unheard } = await readMessages(asked, options);
      if (unheard !== undefined) return { text: UNHEARD_TEXTS[unheard], delivery: last.id, shown: "" };
      const message = (
        { id, sender, admission, message, text }: UnansweredMessage,
        index: number,
      ): QuestionMessage => ({
        delivery: id,
        sender,
        admission,
        ...(message !== undefined && { message }),
        text: read[index]?.text ?? "",
        words: text.length,
        images: read[index]?.images ?? [],
        quoted: read[index]?.quoted ?? [],
      });
      const question: Question = {
        session: sessionOf(platform, last.target),
        platform,
        target: last.target,
        direct: last.direct,
        messages: [message(asked[0], 0), ...asked.slice(1).map((one, index) => message(one, index + 1))],
      };
      const answer = await agent.answer(question, {
        signal,
        onText: (soFar) => {
          if (soFar.trim() !== "") onBegun?.();
          draft?.update(soFar);
        },
      });
      await draft?.close();
      return { ...answer, shown: draft?.shown ?? "" };
    } finally {
      stopTyping();
      await draft?.close();
    }
  }

  /** Notifies the chat of the delay and rethrows the error. On the last attempt, returns a failure notice instead. */
  async #postpone(
    asked: readonly [UnansweredMessage, ...UnansweredMessage[]],
    error: unknown,
    { platform, channel, signal }: Pick<ReplyContext, "platform" | "channel" | "signal">,
  ): Promise<AgentAnswer & { shown: string }> {
    // Notify the chat only of model errors that a retry may fix, because the notices describe no other errors.
    if (signal.aborted || !(error instanceof RetryableError) || !isModelError(error.code)) throw error;
    const { id, target } = asked.at(-1) ?? asked[0];
    if (asked.some(({ last }) => last)) {
      return { text: givenUpText(error.code), delivery: id, shown: "", failure: error.reason };
    }
    const { said, draft } = this.#options.records.of({ platform, id });
    // Send the delay notice once, and again only to replace a partial answer.
    if (said === undefined || draft !== undefined) {
      await this.sendNotice(
        { platform, id },
        channel,
        target,
        said ?? waitText(error.code, error.retryAfterMs),
      ).catch((problem: unknown) =>
        this.#options.log.debug("a delay notice could not be sent", { id, error: String(problem) }),
      );
    }
    throw error;
  }

  /**
   * Notifies the chat of a failure. Does not record the messages as answered, so that a replay asks the model again.
   */
  async #fail(
    asked: readonly [UnansweredMessage, ...UnansweredMessage[]],
    text: string,
    failure: Reason,
    { platform, channel }: Pick<ReplyContext, "platform" | "channel">,
  ): Promise<DeliveryOutcome[]> {
    const last = asked.at(-1) ?? asked[0];
    const isLimit = DELIBERATE_LIMITS.has(failure.code);
    const again =
      isLimit || !isPlain(asked) ? undefined : { label: "Try again", by: last.sender.id, text: last.text };
    const told = await this.sendNotice({ platform, id: last.id }, channel, last.target, text, again);
    for (const { id, target } of asked) if (id !== last.id) await dismiss(channel, target);
    const note = `${failure.code}: ${failure.detail} ${told ? "The sender was notified." : "The chat accepts no messages."}`;
    const outcome = isLimit ? "ignored" : "failed";
    this.#options.log.warn(`event ${outcome}`, { id: last.id, platform, messages: asked.length, note });
    return asked.map(() => ({ outcome, note }));
  }

  /**
   * Sends a delay notice unless text was already sent for the message. Logs errors instead of throwing them.
   *
   * @param by Person who gets a Stop button.
   */
  async sendDelayNotice(
    key: Key,
    channel: Channel,
    target: ReplyTarget,
    text: string,
    by?: string,
  ): Promise<void> {
    const { said, draft, sent, answered } = this.#options.records.of(key);
    if (said !== undefined || draft !== undefined || sent > 0 || answered) return;
    const stop = by === undefined ? undefined : { label: "Stop", by, text: "/stop" };
    await this.sendNotice(key, channel, target, text, stop).catch((error: unknown) =>
      this.#options.log.debug("a delay notice could not be sent", { id: key.id, error: String(error) }),
    );
  }

  /**
   * Replaces the partial answer with a notice, or sends the notice with `button` if there is no partial answer to
   * edit. Does not send the same text twice in a row. If `target` has a ticket, the answer later replaces the notice.
   * Returns false if the chat refuses messages.
   */
  async sendNotice(
    key: Key,
    channel: Channel,
    target: ReplyTarget,
    text: string,
    button?: SayButton,
  ): Promise<boolean> {
    const { records, clock } = this.#options;
    const record = records.of(key);
    const place = resumeTarget(record, target);
    try {
      if (record.draft !== undefined && (await tryEdit(channel, place, record.draft, text))) {
        // There is nothing to send here: `tryEdit` has already put `text` into the message.
      } else if (record.said !== text) {
        const buttons = channel.answerPress && button ? this.#offer(key.platform, button) : [];
        const { id } = await channel.send(target, text, 0, buttons);
        if (target.ticket !== undefined && id !== undefined) records.keepDraft(key, id, target, clock());
      }
    } catch (error) {
      if (error instanceof RefusedError) return false;
      throw error;
    }
    records.say(key, text, clock());
    this.#recordFirstWord(key.platform, [key.id]);
    return true;
  }

  #offer(platform: Platform, { label, by, text }: SayButton): Button[] {
    const { actions, clock } = this.#options;
    const choices = [{ label, action: { does: "say", text } as const }];
    return actions.offer({ platform, by, choices, expiresAt: clock() + BUTTON_MS });
  }

  /**
   * Starts measuring how long a message waits for a notice or the first part of an answer. Returns a function that
   * cancels the measurement.
   */
  timeFirstWord(key: Key, receivedAt: number): () => void {
    const { records, firstWords } = this.#options;
    const { said, draft, sent, answered } = records.of(key);
    const name = recordName(key);
    if (said === undefined && draft === undefined && sent === 0 && !answered)
      firstWords.wait(name, receivedAt);
    return () => firstWords.forget(name);
  }

  #recordFirstWord(platform: Platform, ids: readonly string[]): void {
    const { firstWords, clock } = this.#options;
    for (const id of ids) firstWords.record(recordName({ platform, id }), clock());
  }

  #draft(
    last: UnansweredMessage,
    before: DeliveryRecord,
    { platform, channel, heard }: Pick<ReplyContext, "platform" | "channel"> & { heard(): void },
  ): Draft | undefined {
    if (!channel.streams || channel.edit === undefined) return undefined;
    const { records, clock, log } = this.#options;
    const target = resumeTarget(before, last.target);
    return new Draft({
      channel,
      target,
      ...(before.draft !== undefined && { id: before.draft }),
      keep: (id) => {
        records.keepDraft({ platform, id: last.id }, id, target, clock());
        heard();
      },
      clock,
      log,
    });
  }
}

/** Returns true for a single plain-text message, which a button can send again. */
function isPlain([first, ...others]: readonly [UnansweredMessage, ...UnansweredMessage[]]): boolean {
  return others.length === 0 && first.attachments.length === 0 && (first.references ?? []).length === 0;
}

/** Edits a message. Returns false if the platform no longer allows the edit. */
async function tryEdit(channel: Channel, target: ReplyTarget, id: string, text: string): Promise<boolean> {
  if (channel.edit === undefined) return false;
  try {
    await channel.edit(target, id, text);
    return true;
  } catch (error) {
    if (error instanceof RefusedError && error.code === "edit_refused") return false;
    throw error;
  }
}

/** Returns true for a model error's code. A chat gets no notice of other retryable errors. */
function isModelError(code: ErrorCode): boolean {
  return code.startsWith("model_");
}

/** Removes the pending indicator of an unanswered message. Ignores errors. */
export async function dismiss(channel: Channel, target: ReplyTarget): Promise<void> {
  await channel.dismiss?.(target).catch(() => undefined);
}

/**
 * Returns the recorded target if its chat or thread differs from that of `own`; otherwise returns `own`, which may
 * include a ticket.
 */
function resumeTarget({ target }: DeliveryRecord, own: ReplyTarget): ReplyTarget {
  if (target === undefined || (target.chat === own.chat && target.thread === own.thread)) return own;
  return target;
}

/** Shows the typing indicator until the returned function is called. */
function showTyping(
  channel: Pick<Channel, "typing" | "typingMs" | "typingAfterMs">,
  target: ReplyTarget,
): () => void {
  const { typing, typingMs = REFRESH_MS, typingAfterMs } = channel;
  if (typing === undefined) return () => {};
  const show = (): void => void typing(target).catch(() => undefined);
  let timer: NodeJS.Timeout;
  const begin = (): void => {
    show();
    timer = setInterval(show, typingMs).unref();
  };
  if (typingAfterMs === undefined) begin();
  else timer = setTimeout(begin, typingAfterMs).unref();
  return () => clearInterval(timer);
}
