import type { Inbound, InboundMessage } from "../../contract/message.ts";
import type { Delivery, DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import { sessionOf } from "../channels/channel.ts";
import { readCommand } from "../commands.ts";
import type { Sessions } from "../sessions/store.ts";
import { contextText } from "./attachments.ts";
import type { Bursts, Waiting } from "./bursts.ts";
import type { ChatQueues } from "./chat-queues.ts";
import type { DeliveryRecords } from "./records.ts";

/**
 * Maximum number of context messages that a conversation keeps after an edit has been added as a context message. If
 * `historyLimit` is higher, the maximum is `historyLimit` instead.
 */
const MAX_EDITS = 10;
const DELETED = ignored("deleted before it was answered");

interface ChangesOptions {
  queues: ChatQueues<Waiting>;
  bursts: Bursts;
  records: Pick<DeliveryRecords, "answer" | "release">;
  sessions: Pick<Sessions, "versionOf" | "knows" | "addContext" | "changeContext" | "retract">;
  /** Number of group messages to store as context. */
  historyLimit(platform: Platform): number;
  /** Milliseconds since the epoch. */
  clock(): number;
}

type Content = Extract<Inbound, { kind: "message" | "context" }>;

/**
 * Handles edits and deletions of messages. Before the answer begins, an edit changes the question. Later, an edit of
 * the last question becomes a new question, and any other edit becomes context for the next answer.
 */
export class Changes {
  readonly #options: ChangesOptions;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /**
   * Applies an edit. If the edit changes an unanswered question, resolves once the question has been answered.
   *
   * @param ask Called if the edited message needs a new answer.
   */
  async edit(
    { id, platform }: Delivery,
    inbound: Content,
    ask: (message: InboundMessage) => Promise<DeliveryOutcome>,
  ): Promise<DeliveryOutcome> {
    const { queues, bursts, sessions } = this.#options;
    const { kind, message: name = "", sender, target, text } = inbound;
    if (readCommand(text) !== undefined) return ignored("edit: commands in edits are not run");
    const session = sessionOf(platform, target);
    const { running, waiting } = queues.open(session);
    const open = [...running, ...waiting].findLast(
      (one) => one.message === name && one.sender.id === sender.id,
    );
    if (open !== undefined && bursts.progress(open, running) === "none")
      return this.#replace(session, open, inbound, running.includes(open));

    const former = sessions.versionOf(session, name, id);
    const was = former?.words ?? open?.text;
    const isAgain = sessions.knows(session, id);
    if (was === undefined || isAgain) {
      const context = kind === "message" ? undefined : contextText(inbound);
      const wasContext = sessions.changeContext(session, name, context);
      if (kind === "message") return ask(inbound);
      return ignored(wasContext ? "not for the bot, kept as context" : "edit: not for the bot");
    }
    if (isSame(was, text)) {
      // Settle the edit only after the question is answered. Otherwise, a crash could make the edge redeliver the
      // question without the edit.
      if (open !== undefined) await queues.ending(session, open);
      return ignored("edit: the text is the same");
    }
    if (former?.forgotten === true) return ignored("edit: the conversation has been reset since");
    const isOpen = open !== undefined || waiting.some((one) => one.sender.id === sender.id);
    if (kind === "message" && (isOpen || former?.latest === true)) {
      const reference = { kind: "edit", author: sender, text: was, attachments: [] } as const;
      return ask({ ...inbound, references: [reference, ...(inbound.references ?? [])] });
    }
    this.#recordEdit(session, platform, id, inbound, was);
    return ignored("edit: earlier message, noted for the next answer");
  }

  /** Cancels, if possible, the pending answer to a deleted message. */
  delete(platform: Platform, { target, message: name }: Extract<Inbound, { kind: "deleted" }>): Deleted {
    const { queues, bursts, records, sessions, clock } = this.#options;
    const session = sessionOf(platform, target);
    const { running, waiting } = queues.open(session);
    const gone = [...running, ...waiting].filter((one) => {
      if (one.message !== name) return false;
      const progress = bursts.progress(one, running);
      // If tools were called for several messages together, none of these messages can be withdrawn.
      return progress === "none" || (progress === "worked" && !(running.includes(one) && running.length > 1));
    });
    if (gone.length === 0) return { ...ignored("deletion: no answer was pending"), gone };
    const ids = gone.map(({ id }) => id);
    records.answer(platform, ids, clock());
    records.release(
      platform,
      [...running, ...gone].map(({ id }) => id),
    );
    for (const one of gone) {
      sessions.retract(session, one.id, clock());
      queues.remove(session, one, DELETED);
    }
    return { ...ignored("deletion: the message is not answered"), gone };
  }

  /** Restarts the current question with `message` added, if `message` is a follow-up to it. */
  join(session: string, message: Waiting): void {
    const { queues, bursts } = this.#options;
    const open = queues.open(session);
    if (bursts.isFollowUp(message, open)) this.#restart(session, open.running);
  }

  async #replace(
    session: string,
    former: Waiting,
    { text, attachments, references: about = [] }: Content,
    isRunning: boolean,
  ): Promise<DeliveryOutcome> {
    const { queues } = this.#options;
    // If the message was edited before, keep the reference to the original text.
    const edits = (former.references ?? []).filter(({ kind }) => kind === "edit");
    const message = { ...former, text, attachments, references: [...edits, ...about] };
    const isChange = contentOf(former) !== contentOf(message);
    if (isChange) queues.replace(session, former, message);
    const end = queues.ending(session, isChange ? message : former);
    if (isChange && isRunning) this.#restart(session, queues.open(session).running);
    await end;
    return ignored(`edit: ${isChange ? "the text was replaced" : "the text is the same"}`);
  }

  #restart(session: string, running: readonly Waiting[]): void {
    const [first] = running;
    if (first === undefined) return;
    const ids = running.map(({ id }) => id);
    this.#options.records.release(first.platform, ids);
    this.#options.queues.restart(session);
  }

  #recordEdit(session: string, platform: Platform, id: string, inbound: Content, was: string): void {
    const { sessions, historyLimit, clock } = this.#options;
    const text = contextText(inbound);
    const { message, sender } = inbound;
    if (message !== undefined && sessions.changeContext(session, message, text)) return;
    const note = { delivery: id, message, sender, text, was, at: clock() };
    sessions.addContext(session, note, Math.max(historyLimit(platform), MAX_EDITS));
  }
}

interface Deleted extends DeliveryOutcome {
  gone: readonly Waiting[];
}

/**
 * Returns a key for comparing visible content. The key omits file references, which platforms change from event to
 * event.
 */
function contentOf({ text, attachments, references = [] }: InboundMessage): string {
  return JSON.stringify([text, attachments, references], (key, value: unknown) =>
    key === "reference" ? undefined : value,
  );
}

function isSame(one: string, other: string): boolean {
  return one.replace(/\s+/g, " ").trim() === other.replace(/\s+/g, " ").trim();
}

function ignored(note: string): DeliveryOutcome {
  return { outcome: "ignored", note };
}
