/** The state of the chat page's connection, the way to this browser's approval, and messages about failures. */
import type { ToPage } from "../../contract/chat.ts";
import type { Ended } from "./connection.ts";
import { copies, element } from "./dom.ts";

type State = Ended | "connecting" | "pairing" | "welcome";

/** The states as the page's head shows them. */
const STATES: Readonly<Record<State, [words: string, tone: "wait" | "ok" | "bad"]>> = {
  connecting: ["Connecting", "wait"],
  pairing: ["Waiting for approval", "wait"],
  welcome: ["Connected", "ok"],
  "no key": ["No key", "bad"],
  asleep: ["Asleep until you write", "wait"],
  revoked: ["Revoked", "bad"],
  late: ["Not paired", "bad"],
  full: ["Not paired", "bad"],
  refused: ["Refused", "bad"],
  lost: ["Not connected, trying again", "bad"],
};

/** A message about a failure, and what its button says. */
interface Trouble {
  text: string;
  label?: string;
}

/** Failures from which only a person can go on. */
const TROUBLES: Partial<Record<State, Trouble>> = {
  "no key": {
    text: "This browser cannot make the key that the chat needs. It takes a current browser, and https or localhost.",
    label: "Try again",
  },
  revoked: { text: "This browser's access was revoked.", label: "Pair again" },
  late: { text: "The request was not approved in time, or was rejected.", label: "Ask again" },
  full: { text: "Other browsers asked too, and took this one's place.", label: "Try again" },
  refused: { text: "The chat refused this page. Load it again.", label: "Load again" },
};

/** Storage key; set if this browser was let in the last time. */
const PAIRED = "steward-chat-paired";

const field = element("text", HTMLTextAreaElement);
const add = element("add", HTMLButtonElement);
const submit = element("send", HTMLButtonElement);
const state = element("state", HTMLElement);
const pairing = element("pairing", HTMLElement);
const troubleBox = element("trouble", HTMLElement);
const retry = element("retry", HTMLButtonElement);
const command = element("command", HTMLElement);

/** Action of the button beside the current message. */
let goOn = (): void => {};

retry.addEventListener("click", () => {
  troubleBox.hidden = true;
  goOn();
});
copies(element("copy", HTMLButtonElement), () => command.textContent ?? "");

/**
 * Shows the connection's state, and what is wrong if it ended for a reason that does not pass.
 *
 * @param isDue The user has written something that is not sent.
 * @param act Action of the button beside what is wrong.
 */
export function showState(at: State, isDue = false, act = (): void => {}): void {
  [state.textContent, state.dataset["tone"]] = STATES[at];
  if (at === "welcome") localStorage.setItem(PAIRED, "yes");
  if (at === "pairing" || at === "revoked") localStorage.removeItem(PAIRED);
  const isPaired = localStorage.getItem(PAIRED) !== null;
  if (at === "connecting") return isPaired ? setReady(true) : undefined;
  setReady(isDue || isPaired || at === "asleep");
  pairing.hidden = at !== "pairing";
  if (at === "welcome") troubleBox.hidden = true;
  const wrong = TROUBLES[at];
  if (wrong !== undefined) trouble(wrong, act);
}

/** Shows a message with a button, which takes it away. */
export function trouble({ text, label = "OK" }: Trouble, act = (): void => {}): void {
  pairing.hidden = true;
  element("trouble-text", HTMLElement).textContent = text;
  retry.textContent = label;
  troubleBox.hidden = false;
  goOn = act;
}

/** Shows the code of a request, and links to its approval. */
export function showRequest(request: Extract<ToPage, { type: "pairing" }>): void {
  command.textContent = request.command;
  element("request", HTMLElement).textContent = request.requestId;
  const code = request.command.split(" ").at(-1) ?? "";
  element("code", HTMLElement).textContent = code;
  const link = element("approval", HTMLAnchorElement);
  link.setAttribute("href", `${link.pathname}#request-${code}`);
}

function setReady(on: boolean): void {
  const wasOff = field.disabled;
  for (const control of [field, add, submit]) control.disabled = !on;
  if (on && wasOff && matchMedia("(hover: hover)").matches) field.focus();
}
