/** Separate bundle that highlights code. The chat page loads it on first use. */
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { made } from "./dom.ts";

const LANGUAGES = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/**
 * Maximum length of the code and of each line, in characters, and maximum number of lines. The time for highlighting
 * grows quadratically with the length.
 */
const LONGEST = { code: 8_000, line: 400, lines: 400 };

function isSmallEnough(code: string): boolean {
  if (code.length > LONGEST.code) return false;
  const lines = code.split("\n");
  return lines.length <= LONGEST.lines && lines.every(({ length }) => length <= LONGEST.line);
}

/** Returns highlighted code; `undefined` for an unknown language or for code that exceeds {@link LONGEST}. */
export function colour(code: string, language: string): DocumentFragment | undefined {
  if (!isSmallEnough(code) || highlighter.getLanguage(language) === undefined) return undefined;
  const { value } = highlighter.highlight(code, { language, ignoreIllegals: true });
  // Copy only spans and text, so that the output cannot inject markup.
  const parsed = new DOMParser().parseFromString(value, "text/html");
  const fragment = document.createDocumentFragment();
  fragment.append(...[...parsed.body.childNodes].map(copyOf));
  return fragment;
}

function copyOf(node: Node): Node | string {
  if (!(node instanceof HTMLElement)) return node.textContent ?? "";
  return made("span", [...node.childNodes].map(copyOf), node.className);
}
