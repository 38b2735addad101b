import type { Delivery, DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Agent, AgentAnswer, Question, QuestionMessage } from "../agent/agent.ts";
import { type Channel, conversationOf, type InboundMessage, type ReplyTarget } from "../channels/channel.ts";
import { readMessages } from "./attachments.ts";
import { Draft } from "./draft.ts";
import { send } from "./outgoing.ts";
import type { DeliveryRecord, DeliveryRecords } from "./records.ts";

/** Platforms show it for 5 s (Telegram) to 10 s (Discord). */
const REFRESH_MS = 6_000;

/** Says why no reply comes yet. The message stays with the edge, which tries it again. */
const RATE_LIMITED_TEXT =
  "The model provider's rate limit is reached, so my answer takes longer. I have your message and answer it as soon as the limit allows, usually within a few minutes.";

/** Dependencies of replies. */
interface RepliesOptions {
  records: DeliveryRecords;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** A message that wants an answer. */
export interface Asked extends InboundMessage {
  /** The platform's event id. */
  id: string;
}

/** Dependencies of replies: where they go out, and who makes them. */
interface ReplyContext {
  platform: Platform;
  channel: Channel;
  agent: Pick<Agent, "answer">;
  /** Ends the work. */
  signal: AbortSignal;
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
    { platform, channel, agent, signal }: ReplyContext,
  ): Promise<DeliveryOutcome[]> {
    const { records, clock, log } = this.#options;
    const started = clock();
    const last = asked.at(-1) ?? asked[0];
    const ids = asked.map(({ id }) => id);
    records.take(platform, ids, last.target, started);
    const before = records.of({ platform, id: last.id });
    const {
      text,
      delivery: owner,
      shown,
    } = await this.#ask(asked, before, { platform, channel, agent, signal });

    const place = ids.indexOf(owner);
    // The reply was kept at an earlier attempt, and has perhaps grown in this delivery's name since.
    if (place === -1) records.moveDraft(platform, last.id, owner, clock());
    const record = records.of({ platform, id: owner });
    const refused = await send(this.#options, {
      platform,
      channel,
      owner,
      ids,
      target: located(record, (asked[place] ?? last).target),
      text,
      ...(record.draft !== undefined && {
        draft: { id: record.draft, shown, earlier: owner !== last.id || record.draft === before.draft },
      }),
      signal,
    });
    for (const { id, target: unanswered } of asked) {
      if (id !== owner) await dismiss(channel, unanswered);
    }
    if (refused !== undefined) log.warn("a reply cannot go out", { id: owner, platform, note: refused });
    log.info("event answered", {
      id: owner,
      platform,
      kind: "message",
      messages: asked.length,
      ms: clock() - started,
    });
    return asked.map(({ id }) => outcomeOf(id, owner, refused));
  }

  /** Says a text that no model made. Gives the reason where the chat takes none. */
  async say(
    { platform, id }: Pick<Delivery, "platform" | "id">,
    channel: Channel,
    target: ReplyTarget,
    text: string,
  ): Promise<string | undefined> {
    return send(this.#options, { platform, channel, owner: id, ids: [id], target, text });
  }

  async #ask(
    asked: readonly [Asked, ...Asked[]],
    before: DeliveryRecord,
    { platform, channel, agent, signal }: ReplyContext,
  ): Promise<AgentAnswer & { shown: string }> {
    const last = asked.at(-1) ?? asked[0];
    const stopTyping = showTyping(channel, last.target);
    const draft = this.#draft(last, before, platform, channel);
    try {
      const read = await readMessages(asked, channel, signal);
      const message = ({ id, sender }: Asked, index: number): QuestionMessage => ({
        delivery: id,
        sender,
        text: read[index]?.text ?? "",
        images: read[index]?.images ?? [],
      });
      const question: Question = {
        conversation: conversationOf(platform, last.target),
        platform,
        target: last.target,
        direct: last.direct,
        messages: [message(asked[0], 0), ...asked.slice(1).map((one, index) => message(one, index + 1))],
      };
      const answer = await agent.answer(question, {
        signal,
        ...(draft && { onText: (soFar: string) => draft.update(soFar) }),
      });
      await draft?.close();
      return { ...answer, shown: draft?.shown ?? "" };
    } catch (error) {
      await draft?.close();
      if (error instanceof StewardError && error.code === "model_rate_limited") {
        await this.#tellLimit({ platform, id: last.id }, channel, last.target);
      }
      throw error;
    } finally {
      stopTyping();
      await draft?.close();
    }
  }

  /**
   * Tells the chat once that the answer takes longer. A message of its own, since an edit notifies no one; where the
   * platform waits for the first message to be filled, the reply takes its place later. Best effort.
   */
  async #tellLimit(
    key: Pick<Delivery, "platform" | "id">,
    channel: Channel,
    target: ReplyTarget,
  ): Promise<void> {
    const { records, clock, log } = this.#options;
    const { said, draft } = records.of(key);
    if (said !== undefined || draft !== undefined) return;
    try {
      const { id } = await channel.send(target, RATE_LIMITED_TEXT, 0);
      records.say(key, RATE_LIMITED_TEXT, clock());
      if (target.ticket !== undefined && id !== undefined) records.keepDraft(key, id, target, clock());
    } catch (error) {
      log.debug("a rate limit was not told", { platform: channel.platform, error: String(error) });
    }
  }

  #draft(last: Asked, before: DeliveryRecord, platform: Platform, channel: Channel): Draft | undefined {
    if (!channel.streams || channel.edit === undefined) return undefined;
    const { records, clock, log } = this.#options;
    const target = located(before, last.target);
    return new Draft({
      channel,
      target,
      ...(before.draft !== undefined && { id: before.draft }),
      keep: (id) => records.keepDraft({ platform, id: last.id }, id, target, clock()),
      clock,
      log,
    });
  }
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

function outcomeOf(id: string, owner: string, refused: string | undefined): DeliveryOutcome {
  const note = refused ?? (id === owner ? undefined : `answered together with ${owner}`);
  return { outcome: "answered", ...(note !== undefined && { note }) };
}

/** Shows that an answer is being made, until the function that it gives is called. */
function showTyping(channel: Pick<Channel, "typing">, target: ReplyTarget): () => void {
  if (channel.typing === undefined) return () => {};
  const show = (): void => void channel.typing?.(target).catch(() => undefined);
  show();
  const timer = setInterval(show, REFRESH_MS).unref();
  return () => clearInterval(timer);
}
