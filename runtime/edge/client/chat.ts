/** Script of the chat page; contract/chat.ts defines the protocol. Content is inserted as text, never as markup. */
import type { ChatTurn, ToPage } from "../../contract/chat.ts";
import { type Ended, PageConnection } from "./connection.ts";
import { Conversations } from "./conversations.ts";
import { element } from "./dom.ts";
import { offerFiles, sendMessage, shownOf, takeFiles } from "./files.ts";
import { Items } from "./items.ts";
import { showRequest, showState } from "./connection-state.ts";
import { Transcript } from "./transcript.ts";
import { inConversation, messages, type Said } from "./unsent.ts";

const form = element("form", HTMLFormElement);
const field = element("text", HTMLTextAreaElement);
const stop = element("stop", HTMLButtonElement);
const editing = element("editing", HTMLElement);

const CONVERSATION = "steward-chat-conversation";

/** False for an older gateway, which has one conversation and cannot stop, replace or withdraw messages. */
let isCurrent = true;
/** Id of the message being edited. */
let edited: string | undefined;

const connection = new PageConnection({
  onConnecting: () => showState("connecting"),
  onMessage: receive,
  onEnd: ended,
  isDue: () => messages.unsent().length + messages.withdrawn().length > 0,
});

const transcript = new Transcript({
  canChange: () => isCurrent,
  edit,
  again: (id, hasAnswer) => {
    const said = { text: transcript.wordsOf(id), files: messages.filesOf(id), conversation: open() };
    if (hasAnswer) replace(id, said);
    else say(id, said);
  },
  withdraw,
});

const conversations = new Conversations(localStorage.getItem(CONVERSATION) ?? "", connection, (id) => {
  localStorage.setItem(CONVERSATION, id);
  endEdit();
  show([]);
  if (connection.isWelcome) connection.send({ type: "open", conversation: id });
  else connection.reconnectIfAsleep();
  field.focus();
});
const open = (): string => conversations.current;

const items = new Items({ connection, transcript, conversation: open });

function ended(why: Ended): void {
  items.close();
  showState(why, messages.unsent().length > 0, () =>
    why === "refused" ? location.reload() : void connection.connect(why === "revoked"),
  );
}

function receive(message: Exclude<ToPage, { type: "challenge" }>): void {
  const { conversation = "" } = message as { conversation?: string };
  switch (message.type) {
    case "pairing":
      showState("pairing");
      return showRequest(message);
    case "welcome":
      return greet(message);
    case "opened":
      if (conversation === open()) show(message.history, message);
      return;
    case "conversations":
      return conversations.show(message.conversations);
    case "found":
      return conversations.found(message.id, message.hits);
    case "removed":
      messages.delete(message.id);
      break;
    case "error":
      // A restarting gateway drops the message; the page resends it to the next gateway.
      if (message.code === "gateway_unavailable") return;
      messages.answer(message.id);
      break;
    case "answer":
      messages.answer(message.id);
      break;
    case "accepted":
      // Store a pressed button's text like any other message until it is answered.
      if (items.isPressed(message.id))
        messages.put(message.id, { text: message.text, files: [], conversation });
  }
  if (conversation === open()) showMessage(message);
}

function showMessage(message: ToPage): void {
  switch (message.type) {
    case "file":
    case "choices":
      items.show(message);
      break;
    case "accepted": {
      const { busy } = transcript;
      const isQueued = busy.length > 0 && !busy.includes(message.id) && !transcript.isAnswered(message.id);
      transcript.showOwn(message.id, message.text, isQueued ? "waiting" : "");
      break;
    }
    case "typing":
      showAccepted(message.id);
      transcript.show("assistant", message.id, { text: "" }, "busy");
      break;
    case "text":
      transcript.show("assistant", message.id, { ...message, text: message.soFar }, "busy");
      break;
    case "answer":
      showAccepted(message.id);
      transcript.show("assistant", message.id, message, message.stopped ? "stopped" : "");
      break;
    case "removed":
      transcript.remove(message.id);
      if (message.id === edited) endEdit();
      break;
    case "error":
      showAccepted(message.id);
      transcript.fail(message.id, message.text, message.again);
  }
  stop.hidden = transcript.busy.length === 0;
}

function showAccepted(id: string): void {
  if (transcript.has(id)) transcript.showOwn(id);
}

function greet(message: Extract<ToPage, { type: "welcome" }>): void {
  isCurrent = message.conversations !== undefined;
  if (!isCurrent && open() !== "") {
    localStorage.removeItem(CONVERSATION);
    return location.reload();
  }
  conversations.show(message.conversations);
  showState("welcome");
  items.greet(message.ticket);
  if (isCurrent) connection.send({ type: "open", conversation: open() });
  else show(message.history, message);
  for (const { id, conversation } of messages.withdrawn()) {
    sendStop(id, conversation);
    messages.delete(id);
  }
  for (const { role, id } of message.history) if (role === "assistant") messages.answer(id);
  for (const one of messages.unsent()) sendMessage(connection, one);
}

type OpenConversation = Partial<Pick<Extract<ToPage, { type: "opened" }>, "items" | "running" | "waiting">>;

function show(
  history: readonly ChatTurn[],
  { items: sent = [], running = [], waiting = [] }: OpenConversation = {},
): void {
  transcript.clear();
  for (const turn of history) {
    const { role, id, stopped } = turn;
    transcript.show(role, id, turn, role === "assistant" && stopped ? "stopped" : "");
    if (role === "assistant") messages.answer(id);
  }
  for (const item of sent) items.show(item);
  for (const { id, text } of waiting) transcript.showOwn(id, text, "waiting");
  const queued = new Set(waiting.map(({ id }) => id));
  for (const id of running)
    if (transcript.has(id) && !queued.has(id)) transcript.show("assistant", id, { text: "" }, "busy");
  for (const one of messages.unsent(open()))
    if (!transcript.has(one.id)) transcript.showOwn(one.id, shownOf(one), "waiting");
  const last = history.at(-1);
  if (last?.role === "user" && !running.includes(last.id)) {
    if (last.stopped) transcript.show("assistant", last.id, { text: "" }, "stopped");
    else if (messages.get(last.id)?.state !== "unsent") transcript.fail(last.id, "There is no answer.", true);
  }
  transcript.log.scrollTop = Number.MAX_SAFE_INTEGER;
  stop.hidden = transcript.busy.length === 0;
}

function say(id: string, said: Said): void {
  messages.put(id, said);
  transcript.showOwn(id, shownOf(said), "waiting");
  if (connection.isWelcome) sendMessage(connection, { id, ...said });
  connection.reconnectIfAsleep();
}

function replace(former: string, said: Said): void {
  transcript.remove(former);
  messages.delete(former);
  say(crypto.randomUUID(), { ...said, instead: former });
}

function edit(id: string): void {
  edited = id;
  editing.hidden = false;
  field.value = transcript.wordsOf(id);
  takeFiles(messages.filesOf(id));
  field.focus();
}

function endEdit(): void {
  if (edited !== undefined) clearForm();
}

function clearForm(): void {
  edited = undefined;
  editing.hidden = true;
  field.value = "";
  takeFiles();
}

/**
 * Asks the gateway to withdraw a waiting message. Without a connection, removes the message from the page and asks on
 * the next connection.
 */
function withdraw(id: string): void {
  if (connection.isWelcome) return sendStop(id);
  messages.withdraw(id);
  transcript.remove(id);
}

function sendStop(id: string, conversation = open()): void {
  connection.send({ type: "stop", id, ...inConversation(conversation) });
}

function stopAll(): void {
  if (!isCurrent) return say(crypto.randomUUID(), { text: "/stop", files: [], conversation: open() });
  for (const id of transcript.busy) sendStop(id);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (field.disabled) return;
  const said = { text: field.value.trim(), files: takeFiles(), conversation: open() };
  if (said.text === "" && said.files.length === 0) return;
  const former = edited;
  clearForm();
  if (said.text === "/stop" && isCurrent) return stopAll();
  if (former === undefined) say(crypto.randomUUID(), said);
  else replace(former, said);
});
stop.addEventListener("click", stopAll);
element("cancel", HTMLButtonElement).addEventListener("click", endEdit);
field.addEventListener("input", () => connection.reconnectIfAsleep());
offerFiles(() => isCurrent);
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") endEdit();
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

await messages.open();
show([]);
void connection.connect();
