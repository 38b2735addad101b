/**
 * Script of the editor pages. It replaces the field `text` with a code editor and copies each change to the field.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Action, type Diagnostic, forceLinting, lintGutter, linter, lintKeymap } from "@codemirror/lint";
import { EditorState, type Extension, type Text } from "@codemirror/state";
import { drawSelection, EditorView, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { ToldProblem } from "../../contract/control.ts";
import { helpAt, offersAt, placeAt, type Schema } from "./config-schema.ts";
import { element, made } from "./dom.ts";

/** The config's JSON schema, inserted by the bundler. */
declare const CONFIG_SCHEMA: Schema;

/** Milliseconds between the last keystroke and the check of the edited text. */
const CHECK_AFTER_MS = 500;

const field = element("text", HTMLTextAreaElement);
const { config, check, problems = "[]" } = field.dataset;
const label = document.querySelector<HTMLLabelElement>("label[for=text]");
const hint = (field.getAttribute("aria-describedby") ?? "")
  .split(" ")
  .map((id) => document.querySelector(`#${id || "none"}`)?.textContent ?? "")
  .join(" ")
  .replaceAll(/\s+/g, " ")
  .trim();

const THEME = EditorView.theme({
  "&": {
    background: "var(--card)",
    color: "var(--text)",
    maxHeight: "70vh",
    border: "1px solid var(--line)",
    borderRadius: "6px",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { font: "0.87em/1.5 var(--code-font)", overflow: "auto", minHeight: "20rem" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": { background: "var(--raised)", color: "var(--soft)", border: "0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-scroller .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "light-dark(#cfe0fb, #2b4468)",
  },
  "&.cm-focused .cm-matchingBracket": { background: "light-dark(#d5ead9, #234a33)" },
  ".cm-tooltip": {
    background: "var(--card)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    maxWidth: "min(30rem, 90vw)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-help": { padding: "0.3rem 0.6rem" },
  ".cm-diagnosticAction": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-panels": { background: "var(--raised)", color: "var(--text)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { background: "var(--wait-wash)" },
});
const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
]);

function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const text = state.doc.toString();
  const place = placeAt(text, pos);
  if (!explicit && place.from === place.to) return null;
  const end = place.isKey && !/^\s*:/.test(text.slice(place.to)) ? ": " : "";
  return {
    // Names are matched without quotes, so skip an opening quote.
    from: text[place.from] === '"' ? place.from + 1 : place.from,
    validFor: /^[\w$*-]*$/,
    options: offersAt(CONFIG_SCHEMA, place).map((offer) => ({
      label: offer.label,
      info: offer.help === "" ? () => null : () => made("div", [offer.help], "cm-help"),
      apply: (view: EditorView) => {
        const { to } = placeAt(view.state.doc.toString(), view.state.selection.main.head);
        const insert = offer.text + end;
        view.dispatch({
          changes: { from: place.from, to, insert },
          selection: { anchor: place.from + insert.length },
          userEvent: "input.complete",
        });
      },
    })),
  };
}

const help = hoverTooltip((view, pos) => {
  const found = helpAt(CONFIG_SCHEMA, view.state.doc.toString(), pos + 1);
  if (found === undefined) return null;
  const words = [made("strong", [found.path]), made("br"), found.help];
  const create = () => ({ dom: made("div", words, "cm-help") });
  return { pos: found.from, end: found.to, above: true, create };
});

/** Marks the key that a problem's message or path names, or the whole line if the line does not contain that key. */
function markOf({ path, message, line, help: more }: ToldProblem, text: Text): Diagnostic {
  const { from: start, text: written } = text.line(Math.min(Math.max(line ?? 1, 1), text.lines));
  const [, key, meant] = /"([^"]+)"(?:; did you mean "([^"]+)")?/.exec(message) ?? [];
  const name = [key, path.split(".").at(-1)].find((one) => one && written.includes(JSON.stringify(one)));
  const quoted = name === undefined ? written.trim() : JSON.stringify(name);
  const from = start + Math.max(written.indexOf(quoted), 0);
  return {
    from,
    to: from + quoted.length,
    severity: "error",
    message: [message.replaceAll("`", ""), more].filter((part) => part !== undefined).join("\n"),
    actions: meant === undefined ? [] : [changeTo(meant)],
  };
}

function changeTo(meant: string): Action {
  const insert = JSON.stringify(meant);
  return {
    name: `Change to "${meant}"`,
    apply: (view, from, to) => view.dispatch({ changes: { from, to, insert } }),
  };
}

/** Has the server check the text. If the request fails, checks only the JSON syntax. */
async function findProblems(view: EditorView): Promise<Diagnostic[]> {
  const { doc } = view.state;
  const expected = document.querySelector<HTMLInputElement>("input[name=expected]")?.value ?? "";
  const body = new URLSearchParams({ text: doc.toString(), expected });
  const response = await fetch(check ?? "", { method: "POST", body }).catch(() => undefined);
  if (response?.ok !== true) return jsonParseLinter()(view);
  const { problems: found } = (await response.json()) as { problems: ToldProblem[] };
  announce(found);
  return found.map((one) => markOf(one, doc));
}

const note = made("p", [], { className: "soft", role: "status" });

function announce(found: readonly ToldProblem[]): void {
  const [first] = found;
  const at = first?.line === undefined ? "" : ` at line ${first.line}`;
  const count = found.length === 1 ? "1 problem" : `${found.length} problems`;
  const words = first === undefined ? "" : `${count}, the first${at}: ${first.message}`.replaceAll("`", "");
  if (note.textContent !== words) note.textContent = words;
}

function configExtensions(): Extension[] {
  return [
    lineNumbers(),
    json(),
    syntaxHighlighting(COLOURS),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ override: [complete] }),
    help,
    lintGutter(),
    linter(findProblems, { delay: CHECK_AFTER_MS }),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap]),
  ];
}

const host = made("div", [], "editor");
// The content security policy forbids style elements. In a shadow root, the editor uses constructed style sheets.
const root = host.attachShadow({ mode: "open" });
const view = new EditorView({
  root,
  parent: root,
  state: EditorState.create({
    doc: field.value,
    extensions: [
      history(),
      drawSelection(),
      ...(config === undefined ? [EditorView.lineWrapping] : configExtensions()),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      THEME,
      EditorView.contentAttributes.of({
        "aria-label": label?.textContent ?? "Text",
        ...(hint !== "" && { "aria-description": hint }),
        ...(field.ariaInvalid !== null && { "aria-invalid": field.ariaInvalid }),
        spellcheck: String(field.spellcheck),
        tabindex: "0",
      }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) field.value = state.doc.toString();
      }),
    ],
  }),
});
field.after(host, note);
field.hidden = true;
field.required = false;
label?.addEventListener("click", () => view.focus());
label?.removeAttribute("for");
announce(JSON.parse(problems) as ToldProblem[]);
if (config !== undefined) forceLinting(view);
