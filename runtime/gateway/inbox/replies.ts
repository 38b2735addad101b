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
import type { FirstWords } from "./first-words.ts";
import { givenUpText, UNHEARD_TEXTS, waitText } from "./notices.ts";
import { send } from "./outgoing.ts";
import { offerWhole } from "./whole-answer.ts";
import { type DeliveryRecord, type DeliveryRecords, nameOf } from "./records.ts";

/** Platforms show it for 5 s (Telegram) to 10 s (Discord). */
const REFRESH_MS = 6_000;

const BUTTON_MS = 24 * 3_600_000;

/** Dependencies of replies. */
interface RepliesOptions {
  records: DeliveryRecords;
  firstWords: FirstWords;
  actions: Pick<Actions, "offer">;
  report: Report;
  /** Returns how files are read by the config of the moment. */
  reading(): Pick<ReadOptions, "media" | "contextTokens">;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** A message that wants an answer. */
export interface Asked extends InboundMessage {
  /** The platform's event id. */
  id: string;
  /** It is not tried again. */
  last?: boolean | undefined;
}

/** Limits that keep a message from the model on purpose. */
export const LIMITS: ReadonlySet<ErrorCode> = new Set(["token_limit_reached", "message_limit_reached"]);

/** A button that says a text for one person. */
interface SayButton {
  label: string;
  by: string;
  text: string;
}

type Key = Pick<Delivery, "platform" | "id">;

/** Dependencies of replies: where they go out, and who makes them. */
interface ReplyContext {
  platform: Platform;
  channel: Channel;
  agent: Pick<Agent, "answer">;
  /** Ends the work. */
  signal: AbortSignal;
  /** Called when there is a first word of the answer, before anything of it goes out. */
  onBegun?(): void;
}

/** Makes replies and sends them: each of their messages once, also over several attempts. */
export class Replies {
  readonly #options: RepliesOptions;

  constructor(options: RepliesOptions) {
    this.#options = options;
  }

  /**
   * Answers messages of one conversation together, where the last one was written, and gives each one's
   * outcome. All of them or none have the same answer of an earlier attempt.
   */
  async answer(
    asked: readonly [Asked, ...Asked[]],
    { platform, channel, agent, signal, onBegun }: ReplyContext,
  ): Promise<DeliveryOutcome[]> {
    const { records, clock, log } = this.#options;
    const started = clock();
    const last = asked.at(-1) ?? asked[0];
    const ids = asked.map(({ id }) => id);
    const heard = (): void => this.#heard(platform, ids);
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
    // The reply was kept at an earlier attempt, and has perhaps grown in this delivery's name since.
    if (place === -1) records.moveDraft(platform, last.id, owner, clock());
    const record = records.of({ platform, id: owner });
    const sent = await send(this.#options, {
      platform,
      channel,
      owner,
      ids,
      target: located(record, (asked[place] ?? last).target),
      text,
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
      await offerWhole(this.#options, { key, channel, target, by: sender.id, text });
    }
    const told = { id: owner, platform, kind: "message", messages: asked.length, ms: clock() - started };
    if (sent.note === undefined) log.info("event answered", told);
    else log.warn("a reply cannot go out", { ...told, note: sent.note });
    const together = `answered together with ${owner}`;
    return asked.map(({ id }) =>
      id === owner || sent.outcome !== "answered" ? sent : { ...sent, note: together },
    );
  }

  /** Says a text that no model made. */
  async say(
    { platform, id }: Pick<Delivery, "platform" | "id">,
    channel: Channel,
    target: ReplyTarget,
    text: string,
  ): Promise<DeliveryOutcome> {
    return send(this.#options, { platform, channel, owner: id, ids: [id], target, text });
  }

  async #ask(
    asked: readonly [Asked, ...Asked[]],
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
      const message = ({ id, sender, admission, message, text }: Asked, index: number): QuestionMessage => ({
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

  /**
   * Tells the chat that its answer comes later, and throws what has failed. At the last attempt it is a failure, of which
   * the chat is still to be told.
   */
  async #postpone(
    asked: readonly [Asked, ...Asked[]],
    error: unknown,
    { platform, channel, signal }: Pick<ReplyContext, "platform" | "channel" | "signal">,
  ): Promise<AgentAnswer & { shown: string }> {
    // An answer that was ended by a person or by a stopping gateway is no failure of the model.
    if (signal.aborted || !(error instanceof RetryableError) || !isModels(error.code)) throw error;
    const { id, target } = asked.at(-1) ?? asked[0];
    if (asked.some(({ last }) => last)) {
      return { text: givenUpText(error.code), delivery: id, shown: "", failure: error.reason };
    }
    const { said, draft } = this.#options.records.of({ platform, id });
    // Once. Half an answer that stands there gives its place to it each time.
    if (said === undefined || draft !== undefined) {
      await this.tell(
        { platform, id },
        channel,
        target,
        said ?? waitText(error.code, error.retryAfterMs),
      ).catch((problem: unknown) =>
        this.#options.log.debug("a delay was not told", { id, error: String(problem) }),
      );
    }
    throw error;
  }

  /** Ends messages for which no answer can be made. They count as answered by none: a replay asks again. */
  async #fail(
    asked: readonly [Asked, ...Asked[]],
    text: string,
    failure: Reason,
    { platform, channel }: Pick<ReplyContext, "platform" | "channel">,
  ): Promise<DeliveryOutcome[]> {
    const last = asked.at(-1) ?? asked[0];
    const isLimit = LIMITS.has(failure.code);
    const again =
      isLimit || !isPlain(asked) ? undefined : { label: "Try again", by: last.sender.id, text: last.text };
    const told = await this.tell({ platform, id: last.id }, channel, last.target, text, again);
    for (const { id, target } of asked) if (id !== last.id) await dismiss(channel, target);
    const note = `${failure.code}: ${failure.detail} ${told ? "The person was told." : "The chat takes no message."}`;
    const outcome = isLimit ? "ignored" : "failed";
    this.#options.log.warn(`event ${outcome}`, { id: last.id, platform, messages: asked.length, note });
    return asked.map(() => ({ outcome, note }));
  }

  /**
   * Tells the chat of a message that its answer takes longer, unless it has read anything of one. `by` may stop the answer
   * by a button. Best effort.
   */
  async tellDelay(key: Key, channel: Channel, target: ReplyTarget, text: string, by?: string): Promise<void> {
    const { said, draft, sent, answered } = this.#options.records.of(key);
    if (said !== undefined || draft !== undefined || sent > 0 || answered) return;
    const stop = by === undefined ? undefined : { label: "Stop", by, text: "/stop" };
    await this.tell(key, channel, target, text, stop).catch((error: unknown) =>
      this.#options.log.debug("a delay was not told", { id: key.id, error: String(error) }),
    );
  }

  /**
   * Says something that is no answer: the same for the same message once. It takes the place of what has grown of an
   * answer; else it is a message of its own, which notifies, and gives its place to the reply later where the platform
   * waits for the first message to be filled. A message of its own has `button`, if the platform has buttons. False: the
   * chat takes nothing.
   */
  async tell(
    key: Key,
    channel: Channel,
    target: ReplyTarget,
    text: string,
    button?: SayButton,
  ): Promise<boolean> {
    const { records, clock } = this.#options;
    const record = records.of(key);
    const place = located(record, target);
    try {
      if (record.draft !== undefined && (await isEdited(channel, place, record.draft, text))) {
        // Half an answer has given its place.
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
    this.#heard(key.platform, [key.id]);
    return true;
  }

  #offer(platform: Platform, { label, by, text }: SayButton): Button[] {
    const { actions, clock } = this.#options;
    const choices = [{ label, action: { does: "say", text } as const }];
    return actions.offer({ platform, by, choices, expiresAt: clock() + BUTTON_MS });
  }

  /** A message has come. Returns a function that ends its wait for a first word. */
  expect(key: Key, receivedAt: number): () => void {
    const { records, firstWords } = this.#options;
    const { said, draft, sent, answered } = records.of(key);
    const name = nameOf(key);
    if (said === undefined && draft === undefined && sent === 0 && !answered)
      firstWords.wait(name, receivedAt);
    return () => firstWords.forget(name);
  }

  #heard(platform: Platform, ids: readonly string[]): void {
    const { firstWords, clock } = this.#options;
    for (const id of ids) firstWords.heard(nameOf({ platform, id }), clock());
  }

  #draft(
    last: Asked,
    before: DeliveryRecord,
    { platform, channel, heard }: Pick<ReplyContext, "platform" | "channel"> & { heard(): void },
  ): Draft | undefined {
    if (!channel.streams || channel.edit === undefined) return undefined;
    const { records, clock, log } = this.#options;
    const target = located(before, last.target);
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

/** Returns true for one message of words alone, which a button can say again. */
function isPlain([first, ...others]: readonly [Asked, ...Asked[]]): boolean {
  return others.length === 0 && first.attachments.length === 0 && (first.references ?? []).length === 0;
}

/** False where the message cannot be edited any more. */
async function isEdited(channel: Channel, target: ReplyTarget, id: string, text: string): Promise<boolean> {
  if (channel.edit === undefined) return false;
  try {
    await channel.edit(target, id, text);
    return true;
  } catch (error) {
    if (error instanceof RefusedError && error.code === "edit_refused") return false;
    throw error;
  }
}

/** Tells whether an error is a model's, which the chat is told of; others end with the gateway's restart. */
function isModels(code: ErrorCode): boolean {
  return code.startsWith("model_");
}

/** Nothing will be said to a message. Best effort: what fails here leaves a sign that is only for show. */
export async function dismiss(channel: Channel, target: ReplyTarget): Promise<void> {
  await channel.dismiss?.(target).catch(() => undefined);
}

/** Returns where a reply goes: where it has begun to. The message's own target, where that is the same, can do more. */
function located({ target }: DeliveryRecord, own: ReplyTarget): ReplyTarget {
  if (target === undefined || (target.chat === own.chat && target.thread === own.thread)) return own;
  return target;
}

/** Shows that an answer is being made, until the function that it gives is called. */
function showTyping(channel: Pick<Channel, "typing" | "typingMs">, target: ReplyTarget): () => void {
  if (channel.typing === undefined) return () => {};
  const show = (): void => void channel.typing?.(target).catch(() => undefined);
  show();
  const timer = setInterval(show, channel.typingMs ?? REFRESH_MS).unref();
  return () => clearInterval(timer);
}
