import { parseMarkdown } from "../markdown/parse.ts";
import type { Admission, Sender } from "../../contract/message.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ChatTurn, ToPage } from "../../contract/chat.ts";
import type { GrantedRole } from "../../contract/config/rights.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Actions } from "../actions.ts";
import type { Agent } from "../agent/agent.ts";
import { sessionOf } from "../channels/channel.ts";
import { type Commands, keepsItsPlace, readCommand } from "../commands.ts";
import { ChatQueues } from "../inbox/chat-queues.ts";
import type { ReadOptions } from "../inbox/attachments.ts";
import { RetryableError } from "../failure.ts";
import { randomBytes } from "../../process/random.ts";
import { PRESS_WORDS } from "../inbox/notices.ts";
import { LIMITS } from "../inbox/replies.ts";
import type { AdmissionQuestions } from "../pairing/question.ts";
import { WEB, type WebOutbox } from "./outbox.ts";
import { readWebMessage, shownText } from "./pictures.ts";
import type { Sessions } from "../sessions/store.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Number of earlier messages that a page shows; the transcript keeps all. */
const SHOWN = 200;

/** Interval between updates of a growing answer, in milliseconds. */
const TEXT_EVERY_MS = 80;
/** Number of finished commands that are remembered, so that a resent one does not run again. */
const MOST_SETTLED = 1_000;

/** Dependencies of the web chat. */
interface WebChatOptions {
  /** Read for each run, which then keeps using the result. */
  agent(): Pick<Agent, "answer">;
  /** Ids of devices listed in `agent.operators`. */
  operators(): readonly string[];
  /** Returns the current config's settings for reading files. */
  reading(): Pick<ReadOptions, "media" | "contextTokens">;
  commands: Commands;
  sessions: Pick<Sessions, "answerTo">;
  history: ChatHistory;
  outbox: Pick<WebOutbox, "listen" | "tell" | "recent" | "refresh" | "file">;
  actions: Pick<Actions, "take">;
  admissions: Pick<AdmissionQuestions, "settle">;
  workspace: Workspace;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** The author of a message, and its id. */
interface From {
  id: string;
  sender: Sender;
  /** The role granted when the device was approved. */
  grants: GrantedRole;
}

interface Said extends From {
  text: string;
  pictures: readonly Buffer[];
}

/** The conversations of the web chat: one per device, with one run at a time, sent to all of the device's pages. */
export class WebChat {
  readonly #options: WebChatOptions;
  /** Devices by the tickets of their connected pages. */
  readonly #tickets = new Map<string, string>();
  /** Messages being answered, by device and id. */
  readonly #running = new Map<string, Map<string, Said>>();
  readonly #settled = new Map<string, ToPage>();
  readonly #conversations: ChatQueues<Said>;
  readonly #stop = new AbortController();

  constructor(options: WebChatOptions) {
    this.#options = options;
    this.#conversations = new ChatQueues({
      answer: async ([said], signal) => {
        await this.#answer(said, AbortSignal.any([signal, this.#stop.signal]));
        return [{ outcome: "answered" }];
      },
      together: () => false,
    });
  }

  /** Connects a page of a device. Returns its first message and a function that disconnects it. */
  join(deviceId: string, listener: (message: ToPage) => void): { welcome: ToPage; leave(): void } {
    const { outbox, history: messages } = this.#options;
    const stopListening = outbox.listen(deviceId, listener);
    const ticket = `${deviceId}.${randomBytes(32).toString("base64url")}`;
    this.#tickets.set(ticket, deviceId);
    const history = messages.recent(sessionOf(WEB, { chat: deviceId }));
    const running = [...(this.#running.get(deviceId)?.keys() ?? [])];
    const known = new Set([...history.map(({ id }) => id), ...running]);
    const items = outbox.recent(deviceId).filter(({ id }) => id === "" || known.has(id));
    return {
      welcome: { type: "welcome", history, items, running, ticket },
      leave: () => {
        stopListening();
        this.#tickets.delete(ticket);
      },
    };
  }

  /**
   * Returns a file that was sent to the device of a connected page.
   *
   * @throws StewardError `chat_file_refused` if no connected page has this ticket, `chat_file_unknown`.
   */
  file(ticket: string, item: string): { data: Uint8Array; picture?: string } {
    const { outbox, workspace } = this.#options;
    const device = this.#tickets.get(ticket);
    if (device === undefined) throw new StewardError("chat_file_refused");
    const file = outbox.file(workspace, device, item);
    if (file === undefined) throw new StewardError("chat_file_unknown");
    return file;
  }

  /** Handles a button press. The button's text becomes a message with the press's id. */
  press({ press, ...from }: From & { press: string }): void {
    const { actions, admissions, outbox } = this.#options;
    const pressed = actions.take({ press, platform: WEB, sender: from.sender.id, delivery: from.id });
    outbox.refresh(from.sender.id, press);
    if (pressed.is !== "taken" || pressed.action.does === "file") return;
    const { action } = pressed;
    if (action.does === "say") return this.say({ ...from, text: action.text, pictures: [] });
    const isOperator = this.#admission(from).grants === "operator";
    const text = isOperator ? admissions.settle(action) : PRESS_WORDS["another's"];
    this.#tell(from.sender.id, { type: "answer", id: from.id, ...asMarkdown(text) });
  }

  /** Accepts a message. A resent message gets its existing answer. */
  say(said: Said): void {
    const { sender, id } = said;
    const session = sessionOf(WEB, { chat: sender.id });
    this.#tell(sender.id, { type: "accepted", id, text: shownText(said) });
    if (this.#running.get(sender.id)?.has(id)) return;
    const answer = this.#options.sessions.answerTo(session, id);
    const known = this.#settled.get(keyOf(said));
    if (answer !== undefined)
      return this.#tell(sender.id, { type: "answer", id, ...asMarkdown(answer.text) });
    if (known !== undefined) return this.#tell(sender.id, known);
    const running = this.#running.get(sender.id) ?? new Map<string, Said>();
    this.#running.set(sender.id, running.set(id, said));
    void this.#carryOut(session, said)
      .catch((error: unknown) => this.#fail(said, error))
      .finally(() => {
        running.delete(id);
        if (running.size === 0) this.#running.delete(sender.id);
      });
  }

  /** Waits up to `graceMs` for answers in progress, then aborts them. Pages resend unanswered messages. */
  async drain(graceMs: number): Promise<void> {
    this.#conversations.dismissWaiting(
      new RetryableError("gateway_unavailable", "The gateway is restarting."),
    );
    const end = Date.now() + graceMs;
    while (this.#running.size > 0 && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 25));
    this.#stop.abort();
  }

  async #carryOut(session: string, said: Said): Promise<void> {
    const command = readCommand(said.text);
    if (command === undefined) return void (await this.#conversations.ask(session, said));
    const work = async () => {
      const text = this.#options.commands.run(command, {
        session,
        platform: WEB,
        sender: said.sender,
        admission: this.#admission(said),
        stop: () =>
          this.#conversations.stop(session, (stopped) => {
            for (const one of stopped)
              this.#settle(one, { type: "answer", id: one.id, ...asMarkdown("Stopped.") });
          }),
      });
      this.#settle(said, { type: "answer", id: said.id, ...asMarkdown(text) });
      return { outcome: "answered" as const };
    };
    await (keepsItsPlace(command) ? this.#conversations.inTurn(session, work) : work());
  }

  #admission({ sender, grants }: From): Extract<Admission, { by: "browser" }> {
    const isNamed = this.#options.operators().includes(sender.id);
    return { by: "browser", grants: isNamed ? "operator" : grants };
  }

  async #answer(said: Said, signal: AbortSignal): Promise<void> {
    const { id, sender } = said;
    const { agent, reading, clock, log } = this.#options;
    const started = clock();
    const target = { chat: sender.id };
    const session = sessionOf(WEB, target);
    this.#tell(sender.id, { type: "typing", id });
    const growing = throttle(TEXT_EVERY_MS, (soFar) => {
      if (!signal.aborted) this.#tell(sender.id, { type: "text", id, soFar, blocks: parseMarkdown(soFar) });
    });
    try {
      const read = await readWebMessage(said, { ...reading(), signal });
      const answer = await agent().answer(
        {
          session,
          platform: WEB,
          target,
          direct: true,
          messages: [{ delivery: id, sender, admission: this.#admission(said), ...read }],
        },
        { signal, onText: growing.add },
      );
      growing.end();
      if (signal.aborted) return;
      const { text, failure } = answer;
      if (failure !== undefined) {
        // The failure is not stored, so the same message may be sent again.
        const again = !LIMITS.has(failure.code);
        return this.#tell(sender.id, { type: "error", id, code: failure.code, text, again });
      }
      this.#tell(sender.id, { type: "answer", id, ...asMarkdown(text) });
      log.info("event answered", { id, platform: WEB, kind: "message", ms: clock() - started });
    } finally {
      growing.end();
    }
  }

  #settle(said: Said, message: ToPage): void {
    this.#settled.set(keyOf(said), message);
    const oldest = this.#settled.size > MOST_SETTLED ? this.#settled.keys().next().value : undefined;
    if (oldest !== undefined) this.#settled.delete(oldest);
    this.#tell(said.sender.id, message);
  }

  #fail({ id, sender }: Said, error: unknown): void {
    const known = error instanceof StewardError ? error : undefined;
    if (known === undefined) this.#options.log.error("a chat message failed", { id, error: String(error) });
    else this.#options.log.warn("a chat message failed", { id, code: known.code, detail: known.message });
    const { code, detail, fix } = known?.reason ?? {
      code: "internal",
      detail: "Something went wrong.",
      fix: "Read the gateway's log.",
    };
    const again = known === undefined || known instanceof RetryableError;
    const text = again ? detail : `${detail} ${fix}`;
    this.#tell(sender.id, { type: "error", id, code, text, again });
  }

  #tell(deviceId: string, message: ToPage): void {
    this.#options.outbox.tell(deviceId, message);
  }
}

function asMarkdown(text: string): Pick<ChatTurn, "text" | "blocks"> {
  return { text, blocks: parseMarkdown(text) };
}

function keyOf({ id, sender }: Said): string {
  return `${sender.id} ${id}`;
}

/** Returns a function that sends the newest text, at most once per `everyMs`. */
function throttle(everyMs: number, send: (text: string) => void) {
  let newest: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (newest === undefined) return;
    send(newest);
    newest = undefined;
    timer = setTimeout(flush, everyMs);
  };
  return {
    add: (text: string): void => {
      newest = text;
      if (timer === undefined) flush();
    },
    end: (): void => clearTimeout(timer),
  };
}

/** Transcript of the web chat for its pages, including what /new has hidden from the model. */
export class ChatHistory {
  readonly #recent: StatementSync;

  constructor(database: DatabaseSync) {
    this.#recent = database.prepare(
      `SELECT delivery, role, text, at FROM messages
       WHERE conversation = ? AND role IN ('user', 'assistant') AND text <> ''
       ORDER BY seq DESC LIMIT ${SHOWN}`,
    );
  }

  /** Returns the last messages, oldest first. */
  recent(session: string): ChatTurn[] {
    return this.#recent
      .all(session)
      .map(({ delivery, role, text, at }): ChatTurn => ({
        id: String(delivery),
        role: role === "user" ? "user" : "assistant",
        text: String(text),
        blocks: role === "user" ? undefined : parseMarkdown(String(text)),
        at: Number(at),
      }))
      .toReversed();
  }
}
