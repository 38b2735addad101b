import { LOG_LEVELS } from "../../contract/log.ts";

/**
 * Script of the logs page: it asks for the lines after those that it has, filters them, and
 * stands still on demand. Every text is put in as text, never as markup.
 */
export const LOGS_SCRIPT = `
const $ = (id) => document.getElementById(id);
const EVERY_MS = 2_000, AFTER_FAILURE_MS = 10_000, MOST_LINES = 2_000;
const LEVELS = ${JSON.stringify(LOG_LEVELS)};
const output = $("output"), level = $("level"), text = $("text"), pause = $("pause"), note = $("note");
let lines = output.textContent === "" ? [] : output.textContent.split("\\n");
let next = output.dataset.next, timer, paused = false, asking = false;

// A status is said aloud each time that it is set.
const tell = (words) => { if (note.textContent !== words) note.textContent = words; };

// A line without a level is a crash's own words: no level leaves it out.
const rank = (line) => LEVELS.indexOf(/"level":"(\\w+)"/.exec(line)?.[1]);
function show() {
  const lowest = LEVELS.indexOf(level.value), wanted = text.value.toLowerCase();
  const shown = lines.filter((line) => {
    const own = rank(line);
    return (own === -1 || own >= lowest) && line.toLowerCase().includes(wanted);
  });
  const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 40;
  output.textContent = shown.join("\\n");
  output.hidden = shown.length === 0;
  $("none").hidden = shown.length > 0;
  if (lines.length > 0) $("none").textContent = "No line fits the filter.";
  if (atEnd) output.scrollTop = output.scrollHeight;
}

async function ask() {
  const after = next === undefined ? "" : "&after=" + next;
  const response = await fetch(output.dataset.from + "?lines=500" + after, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}
function take({ state, lines: more, next: then }) {
  next = then ?? next;
  if (more.length > 0) {
    lines = [...lines, ...more].slice(-MOST_LINES);
    show();
  }
  tell(state === "stopped" ? "The container is stopped: nothing to follow." : "Following.");
  // Whoever comes back to the page, or presses the button, looks again.
  return state === "stopped" ? undefined : EVERY_MS;
}
async function look() {
  clearTimeout(timer);
  if (paused || document.hidden || asking) return;
  asking = true;
  const answer = await ask().catch(() => undefined);
  asking = false;
  // What came meanwhile is asked for again once the page goes on.
  if (paused) return;
  if (answer === undefined) tell("No answer. Where it stays so, load the page again: the sign-in may be over.");
  const wait = answer === undefined ? AFTER_FAILURE_MS : take(answer);
  if (wait !== undefined) timer = setTimeout(look, wait);
}

pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  tell(paused ? "Paused." : "");
  look();
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
level.addEventListener("change", show);
text.addEventListener("input", show);
document.addEventListener("visibilitychange", look);
addEventListener("online", look);
$("ways").hidden = true;
$("controls").hidden = false;
output.classList.add("follows");
show();
output.scrollTop = output.scrollHeight;
look();
`;
