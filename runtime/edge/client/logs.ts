/**
 * Script of the logs page: it asks for the lines after those that it has, filters them, and stands still on demand.
 * Every text is put in as text, never as markup.
 */
import type { LogTail, SandboxStatus } from "../../contract/control.ts";
import { LOG_LEVELS, type LogLevel, readableLine } from "../../shared/log.ts";
import { element } from "./dom.ts";

/** Answer of the route of the logs. */
type LogLines = LogTail & Pick<SandboxStatus, "state">;

const EVERY_MS = 2_000;
const AFTER_FAILURE_MS = 10_000;
const MOST_LINES = 2_000;

const output = element("output", HTMLPreElement);
const level = element("level", HTMLSelectElement);
const text = element("text", HTMLInputElement);
const pause = element("pause", HTMLButtonElement);
const note = element("note", HTMLElement);
const none = element("none", HTMLElement);

let lines: string[] = JSON.parse(output.dataset["lines"] ?? "[]");
let next = output.dataset["next"];
let timer: number | undefined;
let paused = false;
let asking = false;

/** Sets the status, which is said aloud each time that it is set. */
function tell(words: string): void {
  if (note.textContent !== words) note.textContent = words;
}

/** Returns a line's place among the levels; -1 for a crash's own words, which no level leaves out. */
function rank(line: string): number {
  return LOG_LEVELS.indexOf(/"level":"(\w+)"/.exec(line)?.[1] as LogLevel);
}

function show(): void {
  const lowest = LOG_LEVELS.indexOf(level.value as LogLevel);
  const wanted = text.value.toLowerCase();
  const shown = lines.filter((line) => {
    const own = rank(line);
    return (own === -1 || own >= lowest) && line.toLowerCase().includes(wanted);
  });
  const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 40;
  output.textContent = shown.map(readableLine).join("\n");
  output.hidden = shown.length === 0;
  none.hidden = shown.length > 0;
  if (lines.length > 0) none.textContent = "No line fits the filter.";
  if (atEnd) output.scrollTop = output.scrollHeight;
}

async function ask(): Promise<LogLines> {
  const after = next === undefined ? "" : `&after=${next}`;
  const response = await fetch(`${output.dataset["from"]}?lines=500${after}`, {
    headers: { accept: "application/json" },
  });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

/** Takes an answer. Returns when to ask again, in milliseconds; `undefined` once the container is stopped. */
function take({ state, lines: more, next: then }: LogLines): number | undefined {
  next = then === undefined ? next : String(then);
  if (more.length > 0) {
    lines = [...lines, ...more].slice(-MOST_LINES);
    show();
  }
  tell(state === "stopped" ? "The container is stopped: nothing to follow." : "Following.");
  // Whoever comes back to the page, or presses the button, looks again.
  return state === "stopped" ? undefined : EVERY_MS;
}

async function look(): Promise<void> {
  clearTimeout(timer);
  if (paused || document.hidden || asking) return;
  asking = true;
  const answer = await ask().catch(() => undefined);
  asking = false;
  if (isPaused()) return;
  if (answer === undefined)
    tell("No answer. Where it stays so, load the page again: the sign-in may be over.");
  const wait = answer === undefined ? AFTER_FAILURE_MS : take(answer);
  if (wait !== undefined) timer = window.setTimeout(() => void look(), wait);
}

/** Tells whether the button was pressed meanwhile. Missed lines are requested again once the page continues. */
function isPaused(): boolean {
  return paused;
}

pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  tell(paused ? "Paused." : "");
  void look();
});
element("controls", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
level.addEventListener("change", show);
text.addEventListener("input", show);
document.addEventListener("visibilitychange", () => void look());
addEventListener("online", () => void look());
element("ways", HTMLElement).hidden = true;
element("controls", HTMLFormElement).hidden = false;
output.classList.add("follows");
show();
output.scrollTop = output.scrollHeight;
void look();
