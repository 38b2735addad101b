import * as fc from "fast-check";
import { expect, test } from "vitest";
import { escapeControlCharacters, writeText } from "../../../runtime/shared/terminal.ts";

test.each([
  ["a line and a tab", "one\ttwo\n", "one\ttwo\n"],
  ["a colour", "\u001B[31mred", String.raw`\u001b[31mred`],
  ["a line that is written over", "ok\rno", String.raw`ok\u000dno`],
  ["a bell, a backspace and a delete", "\u0007\b\u007F", String.raw`\u0007\u0008\u007f`],
  ["a control sequence of one character", "\u009B31m", String.raw`\u009b31m`],
  ["text from right to left", "a\u202Etxt.exe\u2069", String.raw`a\u202etxt.exe\u2069`],
  ["marks of direction", "\u061C\u200E\u200F", String.raw`\u061c\u200e\u200f`],
  ["other ends of lines", "a\u2028b\u2029c\u0085", String.raw`a\u2028b\u2029c\u0085`],
  ["blanks without width", "a\u200Bb\uFEFFc\u2060", String.raw`a\u200bb\ufeffc\u2060`],
  ["a tag", "\u{E0041}", String.raw`\udb40\udc41`],
  ["half of a pair", "a\uD800b", String.raw`a\ud800b`],
  ["a family, a flag and Persian", "👩‍👩‍👧 🏳️ می‌خواهم", "👩‍👩‍👧 🏳️ می‌خواهم"],
])("%s", (_, text, shown) => {
  expect(escapeControlCharacters(text)).toBe(shown);
});

const UNITS = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\u001B]8;;http://a\u0007", "\u0090q", "\u202E", "\r", "\uDFFF", "\u{E0001}"),
);

test("no generated text obeys or hides anything, and a JSON text keeps its value", () => {
  const texts = fc.array(UNITS).map((units) => units.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      expect(escapeControlCharacters(text)).not.toMatch(
        /(?![\n\t])\p{Cc}|[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]|\p{Cs}/u,
      );
      const value = { [text]: [text] };
      expect(JSON.parse(escapeControlCharacters(JSON.stringify(value, null, 2)))).toEqual(value);
    }),
    { numRuns: 10_000 },
  );
});

test("the program's own style stands around the text", () => {
  let written = "";
  const stream = { write: (text: string) => (written += text) };
  writeText(stream, "a\u001B[2J", (shown) => `\u001B[1m${shown}\u001B[22m`);
  expect(written).toBe(`\u001B[1m${String.raw`a\u001b[2J`}\u001B[22m`);
});
