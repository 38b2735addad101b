/** Connection state, pairing request and error messages of the chat page. */
import type { ToPage } from "../../contract/chat.ts";
import type { Ended } from "./connection.ts";
import { copies, element } from "./dom.ts";

type State = Ended | "connecting" | "pairing" | "welcome";

/** Label and tone of each state in the page's header. */
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
  lost: ["Disconnected, retrying", "bad"],
};

interface Trouble {
  text: string;
  label?: string;
}

/** Messages for the states in which the user must act. */
const TROUBLES: Partial<Record<State, Trouble>> = {
  "no key": {
    text: "This browser cannot create the key that the chat needs. Use a current browser, over https or on localhost.",
    label: "Try again",
  },
  revoked: { text: "This browser's access was revoked.", label: "Pair again" },
  late: { text: "The request was not approved in time, or was rejected.", label: "Ask again" },
  full: { text: "Too many browsers asked for access, so this request was dropped.", label: "Try again" },
  refused: { text: "The service refused this page’s connection. Reload the page.", label: "Reload" },
};

/** Local storage key that is set while this browser is admitted to the chat. */
const PAIRED = "steward-chat-paired";

const field = element("text", HTMLTextAreaElement);
const add = element("add", HTMLButtonElement);
const submit = element("send", HTMLButtonElement);
const state = element("state", HTMLElement);
const pairing = element("pairing", HTMLElement);
const troubleBox = element("trouble", HTMLElement);
const retry = element("retry", HTMLButtonElement);
const command = element("command", HTMLElement);

let goOn = (): void => {};

retry.addEventListener("click", () => {
  troubleBox.hidden = true;
  goOn();
});
copies(element("copy", HTMLButtonElement), () => command.textContent ?? "");

/**
 * Shows the connection state. If the user must act, also shows a message with a button.
 *
 * @param isDue True if the user has an unsent message.
 *
 * @param act Called when the button is pressed.
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

/** Shows a message with a button that dismisses it. */
export function trouble({ text, label = "OK" }: Trouble, act = (): void => {}): void {
  pairing.hidden = true;
  element("trouble-text", HTMLElement).textContent = text;
  retry.textContent = label;
  troubleBox.hidden = false;
  goOn = act;
}

/** Shows the code of a pairing request and links to its approval. */
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
