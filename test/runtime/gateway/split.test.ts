import { expect, test } from "vitest";
import { splitMarkdown } from "../../../runtime/gateway/markdown/split.ts";

/** A small generator with a seed, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function sample(seed: number): string {
  const next = random(seed);
  const pick = (most: number): number => Math.floor(next() * most);
  const word = (): string =>
    ["wörter", "a", "and", "long".repeat(1 + pick(12)), "😀", "x.", "why?"][pick(7)] ?? "";
  const line = (): string => Array.from({ length: 1 + pick(14) }, word).join(" ");
  const code = (): string => {
    const body = Array.from({ length: 1 + pick(12) }, () => `  ${line()}`).join("\n");
    return `\`\`\`ts\n${body}\n\`\`\``;
  };
  const block = (): string => (pick(3) === 0 ? code() : Array.from({ length: 1 + pick(4) }, line).join("\n"));
  return Array.from({ length: 1 + pick(12) }, block).join("\n\n");
}

/** A text without what a cut may add or take: white space and the fences themselves. */
function content(text: string): string {
  return text.replace(/^```(?:ts)?$/gm, "").replace(/\s+/g, "");
}

test("every part fits, nothing is lost, no part ends inside a fence or a character", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const text = sample(seed);
    const limit = 40 + (seed % 7) * 60;
    const parts = splitMarkdown(text, limit);
    const wrong = parts.filter(
      (part) =>
        part.length > limit ||
        part.trim() === "" ||
        (part.match(/^```/gm)?.length ?? 0) % 2 !== 0 ||
        !part.isWellFormed(),
    );
    expect({ seed, limit, wrong }).toEqual({ seed, limit, wrong: [] });
    expect({ seed, content: content(parts.join("\n")) }).toEqual({ seed, content: content(text) });
  }
});

test("a text that fits stays whole, an empty one gives nothing", () => {
  expect(splitMarkdown("a\n\nb", 10)).toEqual(["a\n\nb"]);
  expect(splitMarkdown("x".repeat(10), 10)).toEqual(["x".repeat(10)]);
  expect(splitMarkdown(" \n ", 10)).toEqual([]);
});

test.each([
  ["a paragraph", "one two. three\nfour\n\nfive six seven", 24, ["one two. three\nfour", "five six seven"]],
  ["a line", "one two. three\nfour five six", 20, ["one two. three", "four five six"]],
  ["a sentence", "One is here. Two is there now", 20, ["One is here.", "Two is there now"]],
  ["a space", "one two three four", 10, ["one two", "three four"]],
  ["anywhere", "abcdefghij", 4, ["abcd", "efgh", "ij"]],
])("cuts at %s first", (_, text, limit, parts) => {
  expect(splitMarkdown(text, limit)).toEqual(parts);
});

test("a fence that fits into a part of its own is not cut", () => {
  const fence = "```js\nlet a = 1;\n\nlet b = 2;\n```";
  expect(splitMarkdown(`Some words before it.\n${fence}\nAfter it.`, 40)).toEqual([
    "Some words before it.",
    fence,
    "After it.",
  ]);
});

test("a fence longer than a part is closed and opened again with its language", () => {
  expect(splitMarkdown("```js\naaaaaaaa\nbbbbbbbb\ncccccccc\n```", 28)).toEqual([
    "```js\naaaaaaaa\nbbbbbbbb\n```",
    "```js\ncccccccc\n```",
  ]);
});

test.each([
  ["of half a part", "`".repeat(100)],
  ["longer than a part", "`".repeat(450)],
  ["that leaves one character of a part", "~".repeat(98)],
])("a fence with a marker %s comes to an end, and nothing of it is lost", (_, marker) => {
  const text = `${marker}\n${"code 😀\n".repeat(60)}${marker}\nafter`;
  const parts = splitMarkdown(text, 200);
  expect(parts.filter((part) => part.length > 200 || !part.isWellFormed())).toEqual([]);
  expect(parts.length).toBeLessThan(20);
  const words = (from: string): string => from.replace(/[\s`~]+/g, "");
  expect(words(parts.join(""))).toBe(words(text));
});
