/** Script of the chat page; contract/chat.ts defines its protocol. All text is inserted as text, never as markup. */
import { CHAT_CLOSE, type FromPage, proofText, type ToPage } from "../../contract/chat.ts";
import type { Block } from "../../contract/markdown.ts";
import { displayName, openDevice } from "./device.ts";
import { element } from "./dom.ts";
import { render } from "./markdown.ts";
import { Items } from "./items.ts";
import { offerPictures, type Said, sendSaid, shownOf, takePictures, withoutPictures } from "./pictures.ts";

const log = element("log", HTMLElement);
const form = element("form", HTMLFormElement);
const field = element("text", HTMLTextAreaElement);
const state = element("state", HTMLElement);
const pairing = element("pairing", HTMLElement);
const troubleBox = element("trouble", HTMLElement);
const retry = element("retry", HTMLButtonElement);
const stop = element("stop", HTMLButtonElement);
const copy = element("copy", HTMLButtonElement);
const command = element("command", HTMLElement);

/** Storage key of unanswered messages: after a reload they are resent under their own ids. */
const UNANSWERED = "steward-chat-unanswered";
const LONGEST_WAIT_MS = 30_000;
/** While somebody looks at the page and waits. A gateway that fell asleep again would be missed by longer ones. */
const LONGEST_WAITED_FOR_MS = 2_000;
const FIRST_WAIT_MS = 500;

type Role = "user" | "assistant";
type Tone = "" | "waiting" | "busy" | "failed";

const unanswered = new Map<string, Said>(JSON.parse(sessionStorage.getItem(UNANSWERED) ?? "[]"));
const turns = new Map<string, HTMLElement>();

const items = new Items({
  send,
  rouse,
  tell: (text) => trouble(text, "OK", () => {}),
  place: ({ id, item }) => article("item", id, item),
});

let socket: WebSocket | undefined;
let attempts = 0;
let welcome = false;
/** An idle page must not keep waking the gateway: it reconnects only when its user writes. */
let asleep = false;
/** Its user wrote, and no connection has come about since: neither a welcome nor a request for approval. */
let roused = unanswered.size > 0;
/** Action of the button beside the current error message. */
let askAgain = (): void => {};

function keepUnanswered(): void {
  try {
    sessionStorage.setItem(UNANSWERED, JSON.stringify([...unanswered]));
  } catch {
    // Storage is limited to about 5 MB. After a reload, only the text is left, with a remark that the pictures are
    // gone.
    const words = [...unanswered].map(([id, said]) => [id, withoutPictures(said)]);
    sessionStorage.setItem(UNANSWERED, JSON.stringify(words));
  }
}

/** Returns the element of a message or, by its `key`, of one of its items; creates it if it is missing. */
function article(role: Role | "item", id: string, key = id): HTMLElement {
  const known = turns.get(`${role} ${key}`);
  if (known !== undefined) return known;
  const made = document.createElement("article");
  made.setAttribute("aria-label", role === "user" ? "You" : "steward");
  turns.set(`${role} ${key}`, made);
  if (welcome)
    made.dataset["time"] = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  // Insert an answer directly after its question, and an item after everything that belongs to the same message.
  const others = role === "item" && id !== "" ? [...log.children] : [];
  const last = others.findLast((one) => one instanceof HTMLElement && one.dataset["of"] === id);
  const before = last ?? (role === "user" ? undefined : turns.get(`user ${id}`));
  made.dataset["of"] = id;
  if (before === undefined) log.append(made);
  else before.after(made);
  return made;
}

/** A message as the page shows it; without blocks it is shown verbatim. */
interface Shown {
  text: string;
  blocks?: readonly Block[] | undefined;
}

function show(role: Role, id: string, { text, blocks }: Shown, tone: Tone = ""): void {
  const pinned = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const shown = article(role, id);
  shown.className = `${role === "user" ? "own" : ""} ${tone}`.trim();
  // Screen readers announce it when it is complete, not at every word.
  shown.setAttribute("aria-busy", String(tone === "busy"));
  render(shown, text, blocks);
  if (pinned || role === "user") log.scrollTop = log.scrollHeight;
  stop.hidden = log.querySelector("article[aria-busy=true]") === null;
}

function tell(text: string, tone: "wait" | "ok" | "bad"): void {
  state.textContent = text;
  state.dataset["tone"] = tone;
}

function setReady(on: boolean): void {
  field.disabled = !on;
  element("add", HTMLButtonElement).disabled = !on;
  element("send", HTMLButtonElement).disabled = !on;
  if (!on) return;
  pairing.hidden = true;
  troubleBox.hidden = true;
  if (matchMedia("(hover: hover)").matches) field.focus();
}

function trouble(text: string, button: string, act: () => void): void {
  pairing.hidden = true;
  element("trouble-text", HTMLElement).textContent = text;
  retry.textContent = button;
  troubleBox.hidden = false;
  askAgain = act;
}

function rouse(): void {
  if (!asleep) return;
  asleep = false;
  roused = true;
  void connect();
}

function send(message: FromPage): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

async function connect(renew = false): Promise<void> {
  tell("Connecting", "wait");
  const device = await openDevice(renew).catch(() => undefined);
  if (device === undefined) {
    tell("No key", "bad");
    const needed =
      "This browser cannot make the key that the chat needs. It takes a current browser, and https or localhost.";
    return trouble(needed, "Try again", () => void connect());
  }
  welcome = false;
  const address = location.origin.replace(/^http/, "ws") + document.body.dataset["socket"];
  const current = new WebSocket(address);
  socket = current;
  current.addEventListener("message", async ({ data }) => {
    const message: ToPage = JSON.parse(data);
    if (message.type !== "challenge") return receive(message);
    const { deviceId, publicKey } = device;
    const proof = proofText({ nonce: message.nonce, deviceId, origin: location.origin });
    const signature = await device.sign(proof);
    send({ type: "hello", deviceId, publicKey, displayName: displayName(navigator.userAgent), signature });
  });
  current.addEventListener("close", ({ code }) => {
    if (current === socket) closed(current, code);
  });
}

function closed(current: WebSocket, code: number): void {
  items.close();
  setReady(roused);
  pairing.hidden = true;
  // The gateway may fall asleep while a message is on its way: its user has written, and is not to write again.
  const due = roused || (welcome && unanswered.size > 0);
  switch (code === CHAT_CLOSE.asleep && due ? CHAT_CLOSE.restart : code) {
    case CHAT_CLOSE.asleep:
      asleep = true;
      setReady(true);
      return tell("Asleep until you write", "wait");
    case CHAT_CLOSE.revoked:
      tell("Revoked", "bad");
      return trouble("This browser's access was revoked.", "Pair again", () => void connect(true));
    case CHAT_CLOSE.late:
      tell("Not paired", "bad");
      return trouble(
        "The request was not approved in time, or was rejected.",
        "Ask again",
        () => void connect(),
      );
    case CHAT_CLOSE.full:
      tell("Not paired", "bad");
      return trouble(
        "Other browsers asked too, and took this one's place.",
        "Try again",
        () => void connect(),
      );
    case CHAT_CLOSE.invalid:
    case CHAT_CLOSE.unproven:
      tell("Refused", "bad");
      return trouble("The chat refused this page. Load it again.", "Load again", () => location.reload());
    default: {
      tell("Not connected, trying again", "bad");
      const longest = due ? LONGEST_WAITED_FOR_MS : LONGEST_WAIT_MS;
      const wait = Math.min(longest, FIRST_WAIT_MS * 2 ** attempts) * (0.75 + Math.random() / 2);
      attempts += 1;
      setTimeout(() => void (current === socket && connect()), wait);
    }
  }
}

function receive(message: Exclude<ToPage, { type: "challenge" }>): void {
  switch (message.type) {
    case "pairing":
      roused = false;
      setReady(false);
      tell("Waiting for approval", "wait");
      command.textContent = message.command;
      element("request", HTMLElement).textContent = message.requestId;
      pairing.hidden = false;
      return;
    case "welcome":
      return greet(message);
    case "file":
    case "choices":
      return items.show(message);
    case "accepted":
      // Store the button's text as an ordinary message until it is answered.
      if (items.isPressed(message.id)) unanswered.set(message.id, { text: message.text, pictures: [] });
      return show("user", message.id, message);
    case "typing":
      return show("assistant", message.id, { text: "" }, "busy");
    case "text":
      return show("assistant", message.id, { ...message, text: message.soFar }, "busy");
    case "answer":
      unanswered.delete(message.id);
      keepUnanswered();
      return show("assistant", message.id, message);
    case "error":
      return fail(message);
  }
}

function greet({
  history,
  running,
  items: sent = [],
  ticket = "",
}: Extract<ToPage, { type: "welcome" }>): void {
  attempts = 0;
  welcome = true;
  roused = false;
  for (const turn of history) {
    const { role, id } = turn;
    show(role, id, turn);
    if (role === "assistant") unanswered.delete(id);
  }
  items.greet(sent, ticket);
  for (const id of running) if (turns.has(`user ${id}`)) show("assistant", id, { text: "" }, "busy");
  tell("Connected", "ok");
  setReady(true);
  keepUnanswered();
  for (const [id, said] of unanswered) {
    show("user", id, { text: shownOf(said) }, "waiting");
    sendSaid(send, { id, ...said });
  }
  log.scrollTop = log.scrollHeight;
}

function fail({ id, text, again }: Extract<ToPage, { type: "error" }>): void {
  const question = unanswered.get(id);
  unanswered.delete(id);
  keepUnanswered();
  show("assistant", id, { text }, "failed");
  if (!again || question === undefined) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Try again";
  button.addEventListener("click", () => {
    article("assistant", id).remove();
    turns.delete(`assistant ${id}`);
    say(id, question);
  });
  article("assistant", id).append(button);
}

function say(id: string, said: Said): void {
  unanswered.set(id, said);
  keepUnanswered();
  show("user", id, { text: shownOf(said) }, "waiting");
  if (welcome) sendSaid(send, { id, ...said });
  rouse();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (field.disabled) return;
  const pictures = takePictures();
  if (text === "" && pictures.length === 0) return;
  field.value = "";
  say(crypto.randomUUID(), { text, pictures });
});
retry.addEventListener("click", () => {
  troubleBox.hidden = true;
  askAgain();
});
stop.addEventListener("click", () => say(crypto.randomUUID(), { text: "/stop", pictures: [] }));
field.addEventListener("input", rouse);
offerPictures(field, (text) => trouble(text, "OK", () => {}));
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText(command.textContent ?? "");
  copy.textContent = "Copied";
  setTimeout(() => (copy.textContent = "Copy"), 2_000);
});
addEventListener("online", () => {
  if (socket?.readyState === WebSocket.CLOSED && !asleep) void connect();
});
void connect();
