import { expect, test } from "vitest";
import { readHtml } from "../../../rehearsal/standins/telegram-html.ts";
import { splitText } from "../../../runtime/gateway/channels/split.ts";
import { writeTelegramHtml } from "../../../runtime/gateway/channels/telegram/text.ts";
import { generator } from "../../support/random.ts";

test.each([
  ["plain text", "2 < 3 & 4 > 1", "2 &lt; 3 &amp; 4 &gt; 1"],
  ["tags of a model", "<b>x</b> <script>", "&lt;b&gt;x&lt;/b&gt; &lt;script&gt;"],
  ["bold", "a **b c** d", "a <b>b c</b> d"],
  ["bold with underscores", "a __b__ d", "a <b>b</b> d"],
  ["italic", "a *b* and _c_", "a <i>b</i> and <i>c</i>"],
  ["bold and italic", "***x*** **a *b* c**", "<b><i>x</i></b> <b>a <i>b</i> c</b>"],
  ["struck", "~~old~~ new", "<s>old</s> new"],
  ["code", "run `a < b` now", "run <code>a &lt; b</code> now"],
  ["code with backticks in it", "`` a`b ``", "<code>a`b</code>"],
  ["markup inside code", "`**x** [a](b)`", "<code>**x** [a](b)</code>"],
  [
    "a link",
    '[a & b](https://x.example/?q="1"&r=2)',
    '<a href="https://x.example/?q=&quot;1&quot;&amp;r=2">a &amp; b</a>',
  ],
  ["a link with brackets", "[w](https://x.example/a_(b))", '<a href="https://x.example/a_(b)">w</a>'],
  ["a link of another kind", "[x](javascript:alert(1))", "x (javascript:alert(1))"],
  ["names with underscores", "snake_case_name and 2*3*4 and a * b", "snake_case_name and 2*3*4 and a * b"],
  ["markup that is not closed", "**a and *b and `c and [d](", "**a and *b and `c and [d]("],
  ["markup that was escaped", "\\*not\\* \\_this\\_", "*not* _this_"],
  ["a heading", "## Big **news**\ntext", "<b>Big news</b>\ntext"],
  ["a heading that ends in a sign", "# About C#\n# Closed ##", "<b>About C#</b>\n<b>Closed</b>"],
  ["a list", "- one\n* **two**\n  + three\n1. four", "• one\n• <b>two</b>\n  • three\n1. four"],
  ["a quote", "> a **b**\n> c\nd", "<blockquote>a <b>b</b>\nc</blockquote>\nd"],
  ["a table", "| a | b |\n|---|---|\n| 1 | <2> |", "<pre>| a | b |\n|---|---|\n| 1 | &lt;2&gt; |</pre>"],
  [
    "a code block",
    "a\n```ts\nif (a < b) {}\n```\nb",
    'a\n<pre><code class="language-ts">if (a &lt; b) {}</code></pre>\nb',
  ],
  ["a code block without a language", "```\n**x**\n```", "<pre>**x**</pre>"],
  ["a code block that is not closed", "```\nx", "<pre>x</pre>"],
  ["markup across a paragraph", "**a\n\nb**", "**a\n\nb**"],
])("%s", (_, markdown, html) => {
  expect(writeTelegramHtml(markdown)).toBe(html);
});

const SIGNS = '* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ( ) ](https://x.example/) ![ < > & | # ## - 1. > \\ "';
const WORDS = [
  "word",
  "wörd",
  "😀",
  " ",
  "\n",
  "\n\n",
  "```ts\n",
  "\n```\n",
  "</b>",
  "<i>",
  "&amp;",
  "a_b_c",
];
const PIECES = [...SIGNS.split(" "), ...WORDS, " ", "> ", "- "];

test("whatever the model writes, Telegram can read it, and nothing is longer than it was", () => {
  const random = generator(7);
  for (let round = 0; round < 4_000; round += 1) {
    const length = 1 + Math.floor(random() * 30);
    const markdown = Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)]).join("");
    const read = readHtml(writeTelegramHtml(markdown));
    const longest = read.ok ? read.text.length : Number.POSITIVE_INFINITY;
    expect(longest, markdown).toBeLessThanOrEqual(markdown.length);
  }
});

test("every part of a long reply fits, and nothing of it is missing", () => {
  const word = (index: number): string => `word${index}`;
  const text = Array.from({ length: 3_000 }, (_, index) => `**${word(index)}** <&> _it_`).join(" ");
  const shown = splitText(text, 4_096).map((part) => readHtml(writeTelegramHtml(part)));
  const texts = shown.map((part) => (part.ok ? part.text : ""));
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(4_096);
  expect(texts.join(" ").match(/word\d+/g)).toEqual(Array.from({ length: 3_000 }, (_, index) => word(index)));
});

test("a text made to be slow is not", () => {
  for (const piece of ["**", "*a", "_a", "`", "[", "[a](", "~~", "__a", "> ", "\\"]) {
    const html = writeTelegramHtml(piece.repeat(Math.floor(4_096 / piece.length)));
    expect(readHtml(html)).toMatchObject({ ok: true });
  }
  expect(writeTelegramHtml(`# ${" ".repeat(700)}a\u2028b`)).toBe("<b>a\u2028b</b>");
});
