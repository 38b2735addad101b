import { parseMarkdown } from "../markdown/parse.ts";
import type { Admission } from "../../contract/message.ts";
import type { ToPage } from "../../contract/chat.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Actions } from "../actions.ts";
import type { Agent } from "../agent/agent.ts";
import { type Commands, waitsForEarlierMessages, readCommand } from "../commands.ts";
import { ChatQueues } from "../inbox/chat-queues.ts";
import type { ReadOptions } from "../inbox/attachments.ts";
import { RetryableError } from "../failure.ts";
import { randomBytes } from "../../process/random.ts";
import { PRESS_WORDS } from "../inbox/notices.ts";
import type { AdmissionQuestions } from "../pairing/question.ts";
import { answerWebMessage, asMarkdown, failureMessage, type From, type WebMessage } from "./answer.ts";
import { shownText } from "./files.ts";
import type { ChatHistory } from "./history.ts";
import { WEB, type WebOutbox, webSession } from "./outbox.ts";
import type { Sessions } from "../sessions/store.ts";
import type { Workspace } from "../workspace/workspace.ts";

const STOPPED = { outcome: "ignored", note: "stopped" } as const;
/** Number of finished commands to remember, so that a resent command does not run again. */
const MAX_SETTLED = 1_000;

interface WebChatOptions {
  /** Returns the current agent. Called once per run, so that a config change does not affect a run in progress. */
  agent(): Pick<Agent, "answer">;
  /** Ids of the devices listed in `agent.operators`. */
  operators(): readonly string[];
  reading(): Pick<ReadOptions, "media" | "contextTokens">;
  commands: Commands;
  sessions: Pick<Sessions, "answerTo" | "keepAnswer" | "steps">;
  history: ChatHistory;
  outbox: Pick<WebOutbox, "listen" | "send" | "recent" | "refresh" | "file">;
  actions: Pick<Actions, "take">;
  admissions: Pick<AdmissionQuestions, "settle">;
  workspace: Workspace;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

interface Open {
  said: WebMessage;
  soFar: string;
}

/**
 * Manages the web chat's conversations. A device may have several, with one run at a time in each. All pages of the
 * device receive the messages.
 */
export class WebChat {
  readonly #options: WebChatOptions;
  readonly #tickets = new Map<string, string>();
  /** By session, then by message id. */
  readonly #open = new Map<string, Map<string, Open>>();
  readonly #settled = new Map<string, ToPage>();
  readonly #queues: ChatQueues<WebMessage>;
  readonly #stop = new AbortController();

  constructor(options: WebChatOptions) {
    this.#options = options;
    this.#queues = new ChatQueues({
      answer: async ([said], signal) => {
        await this.#answer(said, AbortSignal.any([signal, this.#stop.signal]));
        return [{ outcome: "answered" }];
      },
      together: () => false,
    });
  }

  /** Connects a page. Returns the first message to the page and a function that disconnects the page. */
  join(deviceId: string, listener: (message: ToPage) => void): { welcome: ToPage; leave(): void } {
    const { outbox, history } = this.#options;
    const stopListening = outbox.listen(deviceId, listener);
    const ticket = `${deviceId}.${randomBytes(32).toString("base64url")}`;
    this.#tickets.set(ticket, deviceId);
    const conversations = history.conversations(deviceId);
    return {
      welcome: { type: "welcome", ...this.#state(deviceId, ""), ticket, conversations },
      leave: () => {
        stopListening();
        this.#tickets.delete(ticket);
      },
    };
  }

  /** Returns the messages that a page needs to show a conversation. */
  opened(deviceId: string, conversation: string): ToPage[] {
    const named = conversation === "" ? {} : { conversation };
    const growing = [...(this.#open.get(webSession(deviceId, conversation)) ?? [])].flatMap(
      ([id, { soFar }]): ToPage[] =>
        soFar === "" ? [] : [{ type: "text", id, soFar, blocks: parseMarkdown(soFar), ...named }],
    );
    const first = webSession(deviceId);
    const all = [...this.#open].filter(([name]) => name === first || name.startsWith(`${first}:`));
    const running = all.flatMap(([, messages]) => Array.from(messages.keys()));
    return [{ type: "opened", conversation, ...this.#state(deviceId, conversation), running }, ...growing];
  }

  rename(deviceId: string, conversation: string, title: string): void {
    this.#options.history.rename(webSession(deviceId, conversation), title);
    this.#sendConversations(deviceId);
  }

  delete(deviceId: string, conversation: string): void {
    const session = webSession(deviceId, conversation);
    this.#queues.stop(session, (stopped) => {
      for (const said of stopped) this.#withdraw(said);
    });
    // Wait for an aborted run to end, since it must not write into the deleted transcript.
    void this.#queues
      .inTurn(session, async () => this.#options.history.delete(session))
      .then(
        () => this.#sendConversations(deviceId),
        (error: unknown) =>
          this.#options.log.error("a conversation was not deleted", { error: String(error) }),
      );
  }

  find(deviceId: string, id: string, query: string): ToPage {
    return { type: "found", id, hits: this.#options.history.find(deviceId, query) };
  }

  /**
   * Returns a file that the assistant sent to a device. `ticket` must belong to a connected page of that device.
   *
   * @throws StewardError `chat_file_refused` if no connected page has this ticket; `chat_file_unknown` if the file is
   * not available.
   */
  file(ticket: string, item: string): { data: Uint8Array; picture?: string } {
    const { outbox, workspace } = this.#options;
    const device = this.#tickets.get(ticket);
    if (device === undefined) throw new StewardError("chat_file_refused");
    const file = outbox.file(workspace, device, item);
    if (file === undefined) throw new StewardError("chat_file_unknown");
    return file;
  }

  /** Handles a button press: sends the button's text as the person's message, or decides a request for approval. */
  press({ press, ...from }: From & { press: string }): void {
    const { actions, admissions, outbox } = this.#options;
    const pressed = actions.take({ press, platform: WEB, sender: from.sender.id, delivery: from.id });
    outbox.refresh(from.sender.id, press);
    if (pressed.is !== "taken" || pressed.action.does === "file") return;
    const { action } = pressed;
    if (action.does === "say") return this.say({ ...from, text: action.text, files: [] });
    const isOperator = this.#admission(from).grants === "operator";
    const text = isOperator ? admissions.settle(action) : PRESS_WORDS["another's"];
    this.#send(from, { type: "answer", id: from.id, ...asMarkdown(text) });
  }

  /** Handles a message. A resent message gets its existing answer. */
  say(said: WebMessage): void {
    const { sessions, history } = this.#options;
    const { id } = said;
    const session = sessionOf(said);
    const mark = history.markOf(session, id);
    if (mark === "removed") return this.#send(said, { type: "removed", id });
    this.#send(said, { type: "accepted", id, text: shownText(said) });
    const open = this.#open.get(session) ?? new Map<string, Open>();
    if (open.has(id)) return;
    const answer = sessions.answerTo(session, id);
    const stopped = mark === "stopped" ? ({ stopped: true } as const) : {};
    if (answer !== undefined || mark !== undefined)
      return this.#send(said, { type: "answer", id, ...asMarkdown(answer?.text ?? ""), ...stopped });
    const known = this.#settled.get(keyOf(said));
    if (known !== undefined) return this.#send(said, known);
    this.#open.set(session, open.set(id, { said, soFar: "" }));
    void this.#carryOut(session, said)
      .catch((error: unknown) => this.#fail(said, error))
      .finally(() => {
        open.delete(id);
        if (open.size === 0) this.#open.delete(session);
      });
  }

  /** Stops an answer in progress, keeping its text so far. Withdraws a message that is still queued. */
  stop(from: Pick<From, "id" | "sender" | "conversation">): void {
    const session = sessionOf(from);
    const open = this.#open.get(session)?.get(from.id);
    if (open === undefined) return;
    const { running, waiting } = this.#queues.open(session);
    if (waiting.includes(open.said)) this.#withdraw(from);
    else if (running.includes(open.said)) this.#settleStopped(session, open.said);
    this.#queues.remove(session, open.said, STOPPED);
  }

  /**
   * Waits up to `graceMs` for answers in progress, then aborts them. Pages resend unanswered messages after the
   * gateway has restarted.
   */
  async drain(graceMs: number): Promise<void> {
    this.#queues.dismissWaiting(new RetryableError("gateway_unavailable", "The gateway is restarting."));
    const end = Date.now() + graceMs;
    while (this.#open.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 25));
    this.#stop.abort();
  }

  #state(device: string, conversation: string) {
    const { outbox, history: messages } = this.#options;
    const session = webSession(device, conversation);
    const history = messages.recent(session);
    const running = [...(this.#open.get(session)?.keys() ?? [])];
    const known = new Set([...history.map(({ id }) => id), ...running]);
    const items = outbox.recent(session).filter(({ id }) => id === "" || known.has(id));
    const waiting = this.#queues
      .open(session)
      .waiting.map((said) => ({ id: said.id, text: shownText(said) }));
    return { history, items, running, waiting };
  }

  async #carryOut(session: string, said: WebMessage): Promise<void> {
    const command = readCommand(said.text);
    if (command === undefined) {
      if (said.instead !== undefined) this.#replace(session, said, said.instead);
      return void (await this.#queues.ask(session, said));
    }
    const work = async () => {
      const text = this.#options.commands.run(command, {
        session,
        platform: WEB,
        sender: said.sender,
        admission: this.#admission(said),
        stop: () =>
          this.#queues.stop(session, (stopped) => {
            for (const one of stopped) this.#settleStopped(session, one, "Stopped.");
          }),
      });
      this.#settle(said, { type: "answer", id: said.id, ...asMarkdown(text) });
      return { outcome: "answered" as const };
    };
    await (waitsForEarlierMessages(command) ? this.#queues.inTurn(session, work) : work());
  }

  #admission({ sender, grants }: From): Extract<Admission, { by: "browser" }> {
    const isNamed = this.#options.operators().includes(sender.id);
    return { by: "browser", grants: isNamed ? "operator" : grants };
  }

  async #answer(said: WebMessage, signal: AbortSignal): Promise<void> {
    const { id, sender } = said;
    const message = await answerWebMessage(said, {
      ...this.#options,
      session: sessionOf(said),
      admission: this.#admission(said),
      signal,
      tell: (growing) => this.#send(said, growing),
      onText: (soFar) => {
        const open = this.#open.get(sessionOf(said))?.get(id);
        if (open !== undefined) open.soFar = soFar;
      },
      // Update the list of conversations, because the question may be the title of a new one.
      onAsked: () => this.#sendConversations(sender.id),
    });
    if (message !== undefined) this.#send(said, message);
  }

  /**
   * Stores the text received so far as the answer and tells the pages that the answer was stopped. If no text was
   * received, the pages show `otherwise`.
   */
  #settleStopped(session: string, said: WebMessage, otherwise = ""): void {
    const { sessions, history, clock } = this.#options;
    const { id } = said;
    const text = this.#open.get(session)?.get(id)?.soFar.trim() ?? "";
    history.mark(session, id, "stopped");
    if (text !== "") sessions.keepAnswer(session, [id], text, clock());
    else sessions.steps.drop(session, [id], clock());
    this.#send(said, { type: "answer", id, ...asMarkdown(text || otherwise), stopped: true });
  }

  /** Queues the removal of the message with this id and of its answer, because `said` replaces them. */
  #replace(session: string, said: WebMessage, id: string): void {
    const former = this.#open.get(session)?.get(id)?.said;
    if (former !== undefined) this.#queues.remove(session, former, STOPPED);
    const removal = this.#queues.inTurn(session, async () => {
      const isLast = this.#options.history.removeLast(session, id);
      if (isLast || former !== undefined) this.#withdraw({ ...said, id });
    });
    // Ignore a failed removal: the queue then rejects the next message, and that rejection is reported.
    removal.catch(() => undefined);
  }

  #withdraw(said: Pick<From, "id" | "sender" | "conversation">): void {
    this.#options.history.mark(sessionOf(said), said.id, "removed");
    this.#send(said, { type: "removed", id: said.id });
  }

  #settle(said: WebMessage, message: ToPage): void {
    this.#settled.set(keyOf(said), message);
    const oldest = this.#settled.size > MAX_SETTLED ? this.#settled.keys().next().value : undefined;
    if (oldest !== undefined) this.#settled.delete(oldest);
    this.#send(said, message);
  }

  #fail(said: WebMessage, error: unknown): void {
    const { log } = this.#options;
    const { id } = said;
    if (error instanceof StewardError)
      log.warn("a chat message failed", { id, code: error.code, detail: error.message });
    else log.error("a chat message failed", { id, error: String(error) });
    this.#send(said, failureMessage(id, error));
  }

  #send(to: Pick<From, "sender" | "conversation">, message: ToPage): void {
    this.#options.outbox.send(sessionOf(to), message);
  }

  #sendConversations(device: string): void {
    const conversations = this.#options.history.conversations(device);
    this.#options.outbox.send(webSession(device), { type: "conversations", conversations });
  }
}

function sessionOf({ sender, conversation }: Pick<From, "sender" | "conversation">): string {
  return webSession(sender.id, conversation);
}

function keyOf(said: WebMessage): string {
  return `${sessionOf(said)} ${said.id}`;
}
