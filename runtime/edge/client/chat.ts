/** Script of the chat page; contract/chat.ts defines its protocol. All text is inserted as text, never as markup. */
import type { ChatTurn, ToPage } from "../../contract/chat.ts";
import { type Ended, PageConnection } from "./connection.ts";
import { Conversations } from "./conversations.ts";
import { element } from "./dom.ts";
import { offerFiles, sendSaid, shownOf, takeFiles } from "./files.ts";
import { Items } from "./items.ts";
import { Transcript } from "./transcript.ts";
import { Messages, type Said } from "./unsent.ts";

const form = element("form", HTMLFormElement);
const field = element("text", HTMLTextAreaElement);
const state = element("state", HTMLElement);
const pairing = element("pairing", HTMLElement);
const troubleBox = element("trouble", HTMLElement);
const retry = element("retry", HTMLButtonElement);
const stop = element("stop", HTMLButtonElement);
const copy = element("copy", HTMLButtonElement);
const command = element("command", HTMLElement);
const editing = element("editing", HTMLElement);

/** Storage keys: the open conversation, and whether this browser was let in the last time. */
const CONVERSATION = "steward-chat-conversation";
const PAIRED = "steward-chat-paired";
const COPIED_MS = 2_000;

const messages = new Messages();
/** The gateway has several conversations, and stops, replaces and withdraws messages. */
let isCurrent = true;
/** Id of the message that is edited. */
let edited: string | undefined;
/** Action of the button beside the current error message. */
let askAgain = (): void => {};

const connection = new PageConnection({
  onConnecting: () => tell("Connecting", "wait"),
  onMessage: receive,
  onEnd: ended,
  isDue: () => messages.unsent().length + messages.withdrawn().length > 0,
});
const send = connection.send.bind(connection);

const transcript = new Transcript({
  log: element("log", HTMLElement),
  filesOf: (id) => messages.get(id)?.files ?? [],
  canChange: () => isCurrent,
  edit,
  again: (id, hasAnswer) => {
    const said = { text: transcript.wordsOf(id), files: messages.get(id)?.files ?? [], conversation: open() };
    if (!hasAnswer) return say(id, said);
    replace(id, said);
  },
  withdraw,
});

const conversations = new Conversations(localStorage.getItem(CONVERSATION) ?? "", {
  send,
  isConnected: () => connection.isWelcome,
  open: (id) => {
    localStorage.setItem(CONVERSATION, id);
    endEdit();
    show([]);
    if (connection.isWelcome) send({ type: "open", conversation: id });
    else connection.rouse();
    field.focus();
  },
});
const open = (): string => conversations.current;

const items = new Items({
  send,
  rouse: () => connection.rouse(),
  tell: (text) => trouble(text, "OK", () => {}),
  place: (item) => transcript.placeItem(item),
  conversation: open,
});

function tell(text: string, tone: "wait" | "ok" | "bad"): void {
  state.textContent = text;
  state.dataset["tone"] = tone;
}

function setReady(on: boolean): void {
  const wasOff = field.disabled;
  field.disabled = !on;
  element("add", HTMLButtonElement).disabled = !on;
  element("send", HTMLButtonElement).disabled = !on;
  if (on && wasOff && matchMedia("(hover: hover)").matches) field.focus();
}

function trouble(text: string, label: string, act: () => void): void {
  pairing.hidden = true;
  element("trouble-text", HTMLElement).textContent = text;
  retry.textContent = label;
  troubleBox.hidden = false;
  askAgain = act;
}

function ended(why: Ended): void {
  items.close();
  pairing.hidden = true;
  const isPaired = localStorage.getItem(PAIRED) !== null && why !== "revoked";
  setReady(isPaired || why === "asleep" || messages.unsent().length > 0);
  switch (why) {
    case "no key":
      tell("No key", "bad");
      return trouble(
        "This browser cannot make the key that the chat needs. It takes a current browser, and https or localhost.",
        "Try again",
        () => void connection.connect(),
      );
    case "asleep":
      return tell("Asleep until you write", "wait");
    case "revoked":
      localStorage.removeItem(PAIRED);
      tell("Revoked", "bad");
      return trouble("This browser's access was revoked.", "Pair again", () => void connection.connect(true));
    case "late":
    case "full":
      tell("Not paired", "bad");
      return trouble(
        why === "late"
          ? "The request was not approved in time, or was rejected."
          : "Other browsers asked too, and took this one's place.",
        why === "late" ? "Ask again" : "Try again",
        () => void connection.connect(),
      );
    case "refused":
      tell("Refused", "bad");
      return trouble("The chat refused this page. Load it again.", "Load again", () => location.reload());
    case "lost":
      return tell("Not connected, trying again", "bad");
  }
}

/** Shows the code of a request, and links to its approval. */
function showCode(code: string): void {
  element("code", HTMLElement).textContent = code;
  const link = element("approval", HTMLAnchorElement);
  link.setAttribute("href", `${link.pathname}#request-${code}`);
}

function receive(message: Exclude<ToPage, { type: "challenge" }>): void {
  const { conversation = "" } = message as { conversation?: string };
  switch (message.type) {
    case "pairing":
      localStorage.removeItem(PAIRED);
      setReady(false);
      tell("Waiting for approval", "wait");
      command.textContent = message.command;
      element("request", HTMLElement).textContent = message.requestId;
      showCode(message.command.split(" ").at(-1) ?? "");
      pairing.hidden = false;
      return;
    case "welcome":
      return greet(message);
    case "opened":
      if (conversation === open()) show(message.history, message);
      return;
    case "conversations":
      return conversations.show(message.conversations);
    case "found":
      return conversations.found(message.id, message.hits);
    case "answer":
    case "removed":
      if (message.type === "answer") messages.answer(message.id);
      else messages.delete(message.id);
      break;
    case "error":
      // A gateway that restarts answers what the page sends again to the next one.
      if (message.code === "gateway_unavailable") return;
      messages.answer(message.id);
      break;
    case "accepted":
      // Store the button's text as an ordinary message until it is answered.
      if (items.isPressed(message.id))
        messages.put(message.id, { text: message.text, files: [], conversation });
  }
  if (conversation === open()) showMessage(message);
}

/** Shows a message of the open conversation. */
function showMessage(message: ToPage): void {
  switch (message.type) {
    case "file":
    case "choices":
      items.show(message);
      break;
    case "accepted": {
      const { busy } = transcript;
      const isQueued = busy.length > 0 && !busy.includes(message.id) && !transcript.isAnswered(message.id);
      transcript.show("user", message.id, shownAs(message.id, message.text), isQueued ? "waiting" : "");
      break;
    }
    case "typing":
      if (transcript.has(message.id)) transcript.show("user", message.id, shownAs(message.id));
      transcript.show("assistant", message.id, { text: "" }, "busy");
      break;
    case "text":
      transcript.show("assistant", message.id, { ...message, text: message.soFar }, "busy");
      break;
    case "answer":
      if (transcript.has(message.id)) transcript.show("user", message.id, shownAs(message.id));
      transcript.show("assistant", message.id, message, message.stopped ? "stopped" : "");
      break;
    case "removed":
      transcript.remove(message.id);
      if (message.id === edited) endEdit();
      break;
    case "error":
      if (transcript.has(message.id)) transcript.show("user", message.id, shownAs(message.id));
      transcript.fail(message.id, message.text, message.again);
  }
  stop.hidden = transcript.busy.length === 0;
}

function greet(message: Extract<ToPage, { type: "welcome" }>): void {
  localStorage.setItem(PAIRED, "yes");
  isCurrent = message.conversations !== undefined;
  if (!isCurrent && open() !== "") {
    localStorage.removeItem(CONVERSATION);
    return location.reload();
  }
  conversations.show(message.conversations);
  tell("Connected", "ok");
  pairing.hidden = true;
  troubleBox.hidden = true;
  setReady(true);
  items.greet(message.ticket);
  if (isCurrent) send({ type: "open", conversation: open() });
  else show(message.history, message);
  for (const { id, conversation } of messages.withdrawn()) {
    send({ type: "stop", id, ...(conversation !== "" && { conversation }) });
    messages.delete(id);
  }
  for (const { role, id } of message.history) if (role === "assistant") messages.answer(id);
  for (const one of messages.unsent()) sendSaid(send, one);
}

type OpenConversation = Partial<Pick<Extract<ToPage, { type: "opened" }>, "items" | "running" | "waiting">>;

/** Shows a conversation from its beginning. */
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
  for (const { id, text } of waiting) transcript.show("user", id, shownAs(id, text), "waiting");
  const queued = new Set(waiting.map(({ id }) => id));
  for (const id of running)
    if (transcript.has(id) && !queued.has(id)) transcript.show("assistant", id, { text: "" }, "busy");
  for (const one of messages.unsent(open()))
    if (!transcript.has(one.id)) transcript.show("user", one.id, shownAs(one.id, shownOf(one)), "waiting");
  const last = history.at(-1);
  if (last?.role === "user" && !running.includes(last.id)) {
    if (last.stopped) transcript.show("assistant", last.id, { text: "" }, "stopped");
    else if (messages.get(last.id)?.state !== "unsent") transcript.fail(last.id, "There is no answer.", true);
  }
  element("log", HTMLElement).scrollTop = Number.MAX_SAFE_INTEGER;
  stop.hidden = transcript.busy.length === 0;
}

/** Returns one of the user's messages as the page shows it. */
function shownAs(id: string, text?: string) {
  const said = messages.get(id);
  const words = said === undefined ? {} : { words: said.text.length };
  return { text: text ?? transcript.textOf(id), ...words };
}

function say(id: string, said: Said): void {
  messages.put(id, said);
  transcript.show("user", id, shownAs(id, shownOf(said)), "waiting");
  if (connection.isWelcome) sendSaid(send, { id, ...said });
  connection.rouse();
}

/** Says something in place of the last message. */
function replace(former: string, said: Said): void {
  transcript.remove(former);
  messages.delete(former);
  say(crypto.randomUUID(), { ...said, instead: former });
}

function edit(id: string): void {
  edited = id;
  editing.hidden = false;
  field.value = transcript.wordsOf(id);
  takeFiles(messages.get(id)?.files);
  field.focus();
}

function endEdit(): void {
  if (edited === undefined) return;
  edited = undefined;
  editing.hidden = true;
  field.value = "";
  takeFiles();
}

/** Withdraws a message that waits: here, and at the gateway if it may have come there. */
function withdraw(id: string): void {
  const conversation = open();
  if (connection.isWelcome) {
    send({ type: "stop", id, ...(conversation !== "" && { conversation }) });
    return;
  }
  messages.withdraw(id);
  transcript.remove(id);
}

/** Stops the answers that are growing. */
function stopAll(): void {
  const conversation = open();
  if (!isCurrent) return say(crypto.randomUUID(), { text: "/stop", files: [], conversation });
  for (const id of transcript.busy) send({ type: "stop", id, ...(conversation !== "" && { conversation }) });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (field.disabled) return;
  const files = takeFiles();
  if (text === "" && files.length === 0) return;
  field.value = "";
  const said = { text, files, conversation: open() };
  const former = edited;
  edited = undefined;
  editing.hidden = true;
  if (text === "/stop" && isCurrent) return stopAll();
  if (former === undefined) say(crypto.randomUUID(), said);
  else replace(former, said);
});
retry.addEventListener("click", () => {
  troubleBox.hidden = true;
  askAgain();
});
stop.addEventListener("click", stopAll);
element("cancel", HTMLButtonElement).addEventListener("click", endEdit);
field.addEventListener("input", () => connection.rouse());
offerFiles({
  target: document.body,
  takesAll: () => isCurrent,
  tell: (text) => trouble(text, "OK", () => {}),
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") endEdit();
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText(command.textContent ?? "");
  copy.textContent = "Copied";
  setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
});

await messages.open();
setReady(localStorage.getItem(PAIRED) !== null);
show([]);
void connection.connect();
