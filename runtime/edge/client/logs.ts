/** Script of the logs page. Content is inserted as text, never as markup. */
import type { LogTail, SandboxStatus } from "../../contract/control.ts";
import { type LogLevel, readableLog } from "../../shared/log.ts";
import { element, isAtEnd, made } from "./dom.ts";

type LogLines = LogTail & Pick<SandboxStatus, "state">;

const EVERY_MS = 2_000;
const AFTER_FAILURE_MS = 10_000;
const MAX_LINES = 2_000;

const output = element("output", HTMLPreElement);
const controls = element("controls", HTMLFormElement);
const level = controls.elements.namedItem("level") as HTMLSelectElement;
const text = controls.elements.namedItem("text") as HTMLInputElement;
const pause = element("pause", HTMLButtonElement);
const note = element("note", HTMLElement);
const none = element("none", HTMLElement);

let lines: string[] = JSON.parse(output.dataset["lines"] ?? "[]");
let next = output.dataset["next"];
let timer: number | undefined;
let asking = false;
const isPaused = (): boolean => pause.ariaPressed === "true";

/** Updates the status, which screen readers announce on every change. */
function showStatus(words: string): void {
  if (note.textContent !== words) note.textContent = words;
}

function show(): void {
  const shown = readableLog(lines, { level: level.value as LogLevel, text: text.value });
  const pinned = isAtEnd(output);
  const spans = shown.map(({ text: words, kind }, at) =>
    made("span", [`${at > 0 ? "\n" : ""}${words}`], kind),
  );
  output.replaceChildren(...spans);
  output.hidden = shown.length === 0;
  none.hidden = shown.length > 0;
  if (lines.length > 0) none.textContent = "No line matches the filter.";
  if (pinned) output.scrollTop = output.scrollHeight;
}

/** Loads all stored lines. The page initially contains only the most recent ones. */
async function loadKept(): Promise<void> {
  const response = await fetch(output.dataset["kept"] ?? "");
  if (!response.ok) return;
  lines = (await response.text()).split("\n").slice(0, -1);
  next = response.headers.get("x-log-next") ?? next;
  show();
}

async function ask(): Promise<LogLines> {
  const after = next === undefined ? "" : `&after=${next}`;
  const headers = { accept: "application/json" };
  const response = await fetch(`${output.dataset["from"]}?lines=500${after}`, { headers });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

/**
 * Adds received lines. Returns the milliseconds until the next request; `undefined` once the container is stopped.
 */
function take({ state, lines: more, next: then }: LogLines): number | undefined {
  next = then?.toString() ?? next;
  if (more.length > 0) {
    lines = [...lines, ...more].slice(-MAX_LINES);
    show();
  }
  showStatus(state === "stopped" ? "The container is stopped: nothing to follow." : "Following.");
  // If the container is stopped, stop polling until the page is shown again, the browser goes online or the user ends
  // a pause.
  return state === "stopped" ? undefined : EVERY_MS;
}

async function look(): Promise<void> {
  clearTimeout(timer);
  if (isPaused() || document.hidden || asking) return;
  asking = true;
  const answer = await ask().catch(() => undefined);
  asking = false;
  // The next request after the pause fetches the missed lines.
  if (isPaused()) return;
  if (answer === undefined)
    showStatus("No response. If this continues, reload the page: your session may have expired.");
  const wait = answer === undefined ? AFTER_FAILURE_MS : take(answer);
  if (wait !== undefined) timer = window.setTimeout(() => void look(), wait);
}

pause.addEventListener("click", () => {
  pause.ariaPressed = String(!isPaused());
  showStatus(isPaused() ? "Paused." : "");
  void look();
});
controls.addEventListener("submit", (event) => event.preventDefault());
level.addEventListener("change", show);
text.addEventListener("input", show);
document.addEventListener("visibilitychange", () => void look());
addEventListener("online", () => void look());
element("ways", HTMLElement).hidden = true;
element("show", HTMLButtonElement).hidden = true;
pause.hidden = false;
output.classList.add("follows");
show();
output.scrollTop = output.scrollHeight;
void loadKept()
  .catch(() => undefined)
  .then(look);
