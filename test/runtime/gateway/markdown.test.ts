import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readHtml } from "../../../rehearsal/standins/telegram-html.ts";
import { splitForDiscord, writeDiscordText } from "../../../runtime/gateway/channels/discord/text.ts";
import { splitForSlack, writeMrkdwn } from "../../../runtime/gateway/channels/slack/mrkdwn.ts";
import { splitForTelegram, writeTelegramHtml } from "../../../runtime/gateway/channels/telegram/text.ts";

const CONSTRUCTS = [
  {
    name: "plain signs",
    markdown: "2 < 3 & 4 > 1 | 5",
    telegram: "2 &lt; 3 &amp; 4 &gt; 1 | 5",
    slack: "2 &lt; 3 &amp; 4 &gt; 1 | 5",
    discord: "2 < 3 & 4 > 1 \\| 5",
  },
  {
    name: "bold",
    markdown: "a **bold** and __bold__ word",
    telegram: "a <b>bold</b> and <b>bold</b> word",
    slack: "a *bold* and *bold* word",
    discord: "a **bold** and **bold** word",
  },
  {
    name: "italic",
    markdown: "an *italic* and _italic_ word",
    telegram: "an <i>italic</i> and <i>italic</i> word",
    slack: "an _italic_ and _italic_ word",
    discord: "an *italic* and *italic* word",
  },
  {
    name: "both",
    markdown: "***x*** **a *b* c** *a **b** c*",
    telegram: "<b><i>x</i></b> <b>a <i>b</i> c</b> <i>a <b>b</b> c</i>",
    slack: "*_x_* *a _b_ c* _a *b* c_",
    discord: "***x*** **a *b* c** *a **b** c*",
  },
  {
    name: "style in a word",
    markdown: "这是**重点**内容, un*frigging*believable",
    telegram: "这是<b>重点</b>内容, un*frigging*believable",
    slack: "这是\u200B*重点*\u200B内容, un*frigging*believable",
    discord: "这是**重点**内容, un\\*frigging\\*believable",
  },
  {
    name: "struck",
    markdown: "~~old~~ new",
    telegram: "<s>old</s> new",
    slack: "~old~ new",
    discord: "~~old~~ new",
  },
  {
    name: "product",
    markdown: "2*3*4 and snake_case_name and a * b",
    telegram: "2*3*4 and snake_case_name and a * b",
    slack: "2*3*4 and snake_case_name and a * b",
    discord: "2\\*3\\*4 and snake\\_case\\_name and a \\* b",
  },
  {
    name: "escaped",
    markdown: "\\*not\\* \\_this\\_ \\# neither",
    telegram: "*not* _this_ # neither",
    slack: "*not* _this_ # neither",
    discord: "\\*not\\* \\_this\\_ \\# neither",
  },
  {
    name: "unclosed",
    markdown: "**a and *b and `c and [d](",
    telegram: "**a and *b and `c and [d](",
    slack: "**a and *b and `c and [d](",
    discord: "\\*\\*a and \\*b and \\`c and [d](",
  },
  {
    name: "code",
    markdown: "run `a < b | **c**` now",
    telegram: "run <code>a &lt; b | **c**</code> now",
    slack: "run `a &lt; b | **c**` now",
    discord: "run `a < b | **c**` now",
  },
  {
    name: "code with a backtick",
    markdown: "`` a`b ``",
    telegram: "<code>a`b</code>",
    slack: "`a`b`",
    discord: "`` a`b ``",
  },
  {
    name: "link",
    markdown: "[a & b](https://x.example/?q=1&r=2)",
    telegram: '<a href="https://x.example/?q=1&amp;r=2">a &amp; b</a>',
    slack: "<https://x.example/?q=1&amp;r=2|a &amp; b>",
    discord: "[a & b](<https://x.example/?q=1&r=2>)",
  },
  {
    name: "link with style and title",
    markdown: '[**a** page](https://x.example/b_(c) "title")',
    telegram: '<a href="https://x.example/b_(c)"><b>a</b> page</a>',
    slack: "<https://x.example/b_(c)|a page>",
    discord: "[a page](<https://x.example/b_(c)>)",
  },
  {
    name: "link elsewhere",
    markdown: "[x](javascript:alert(1)) [y](/local)",
    telegram: "x (javascript:alert(1)) y (/local)",
    slack: "x (javascript:alert(1)) y (/local)",
    discord: "x (javascript:alert(1)) y (/local)",
  },
  {
    name: "label that is an address",
    markdown: "[https://bank.example](https://x.example)",
    telegram: "https://bank.example (https://x.example)",
    slack: "https://bank.example (https://x.example)",
    discord: "https://bank.example (https://x.example)",
  },
  {
    name: "address",
    markdown: "see https://x.example/a_b_c?d=1&e=2.",
    telegram: 'see <a href="https://x.example/a_b_c?d=1&amp;e=2">https://x.example/a_b_c?d=1&amp;e=2</a>.',
    slack: "see <https://x.example/a_b_c?d=1&amp;e=2>.",
    discord: "see https://x.example/a_b_c?d=1&e=2.",
  },
  {
    name: "address in angles",
    markdown: "<https://x.example/a_b>, <mailto:a@x.example>",
    telegram:
      '<a href="https://x.example/a_b">https://x.example/a_b</a>, <a href="mailto:a@x.example">mailto:a@x.example</a>',
    slack: "<https://x.example/a_b>, <mailto:a@x.example|mailto:a@x.example>",
    discord: "https://x.example/a_b, mailto:a@x.example",
  },
  {
    name: "image",
    markdown: "![a cat](https://x.example/cat.png)",
    telegram: '<a href="https://x.example/cat.png">a cat</a>',
    slack: "<https://x.example/cat.png|a cat>",
    discord: "[a cat](<https://x.example/cat.png>)",
  },
  {
    name: "heading",
    markdown: "## Big **news** ##\ntext\n\n# About C#",
    telegram: "<b>Big news</b>\ntext\n\n<b>About C#</b>",
    slack: "*Big news*\ntext\n\n*About C#*",
    discord: "**Big news**\ntext\n\n**About C#**",
  },
  {
    name: "no heading",
    markdown: "#hashtag",
    telegram: "#hashtag",
    slack: "#hashtag",
    discord: "\\#hashtag",
  },
  {
    name: "list",
    markdown: "- one\n* **two**\n+ three",
    telegram: "• one\n• <b>two</b>\n• three",
    slack: "• one\n• *two*\n• three",
    discord: "- one\n- **two**\n- three",
  },
  {
    name: "nested list",
    markdown: "1. one\n   - a\n   - b\n     1. deep\n2. two\n\n   more of two\n3. three",
    telegram: "1. one\n   • a\n   • b\n     1. deep\n2. two\n\n   more of two\n3. three",
    slack: "1. one\n   • a\n   • b\n     1. deep\n2. two\n\n   more of two\n3. three",
    discord: "1. one\n   - a\n   - b\n     1. deep\n2. two\n\n   more of two\n3. three",
  },
  {
    name: "numbers",
    markdown: "7) seven\n8) eight",
    telegram: "7) seven\n8) eight",
    slack: "7) seven\n8) eight",
    discord: "7) seven\n8) eight",
  },
  {
    name: "tasks",
    markdown: "- [ ] open\n- [x] done\n  - [ ] sub\n1. [x] numbered",
    telegram: "☐ open\n☑ done\n  ☐ sub\n1. ☑ numbered",
    slack: "☐ open\n☑ done\n  ☐ sub\n1. ☑ numbered",
    discord: "- ☐ open\n- ☑ done\n  - ☐ sub\n1. ☑ numbered",
  },
  {
    name: "quote",
    markdown: "> a **b**\n> c\n> > inner\n\nd",
    telegram: "<blockquote>a <b>b</b>\nc\ninner</blockquote>\n\nd",
    slack: "&gt; a *b*\n&gt; c\n&gt; inner\n\nd",
    discord: "> a **b**\n> c\n> inner\n\nd",
  },
  {
    name: "list in a quote",
    markdown: "> - a\n> - b",
    telegram: "<blockquote>• a\n• b</blockquote>",
    slack: "&gt; • a\n&gt; • b",
    discord: "> - a\n> - b",
  },
  {
    name: "code in a list",
    markdown: "- run\n  ```sh\n  ls -l\n  ```\n- end",
    telegram: '• run\n<pre><code class="language-sh">ls -l</code></pre>\n• end',
    slack: "• run\n```\nls -l\n```\n• end",
    discord: "- run\n```sh\nls -l\n```\n- end",
  },
  {
    name: "break",
    markdown: "a\n\n---\n\nb",
    telegram: "a\n\n———\n\nb",
    slack: "a\n\n———\n\nb",
    discord: "a\n\n———\n\nb",
  },
  {
    name: "table",
    markdown: "| a | b |\n|---|:-:|\n| 1 | <2> |\n| **long** | `x` |\n\nafter",
    telegram: "<pre>a    | b\n-----|----\n1    | &lt;2&gt;\nlong | x</pre>\n\nafter",
    slack: "```\na    | b\n-----|----\n1    | &lt;2&gt;\nlong | x\n```\n\nafter",
    discord: "```\na    | b\n-----|----\n1    | <2>\nlong | x\n```\n\nafter",
  },
  {
    name: "wide table",
    markdown:
      "| Name | What it does |\n|---|---|\n| one | words words words words words words words words words words words words |\n| two | more |",
    telegram:
      "• Name: one · What it does: words words words words words words words words words words words words\n• Name: two · What it does: more",
    slack:
      "• Name: one · What it does: words words words words words words words words words words words words\n• Name: two · What it does: more",
    discord:
      "- Name: one · What it does: words words words words words words words words words words words words\n- Name: two · What it does: more",
  },
  {
    name: "code block",
    markdown: "a\n```ts\nif (a < b) {}\n```\nb",
    telegram: 'a\n<pre><code class="language-ts">if (a &lt; b) {}</code></pre>\nb',
    slack: "a\n```\nif (a &lt; b) {}\n```\nb",
    discord: "a\n```ts\nif (a < b) {}\n```\nb",
  },
  {
    name: "tildes",
    markdown: "~~~\n**x**\n~~~",
    telegram: "<pre>**x**</pre>",
    slack: "```\n**x**\n```",
    discord: "```\n**x**\n```",
  },
  {
    name: "indented",
    markdown: "text\n\n    indented code\n\nend",
    telegram: "text\n\n<pre>indented code</pre>\n\nend",
    slack: "text\n\n```\nindented code\n```\n\nend",
    discord: "text\n\n```\nindented code\n```\n\nend",
  },
  {
    name: "open block",
    markdown: "```js\nx",
    telegram: '<pre><code class="language-js">x</code></pre>',
    slack: "```\nx\n```",
    discord: "```js\nx\n```",
  },
  {
    name: "html",
    markdown: "<b>x</b> <script>alert(1)</script> a<br>b",
    telegram: "&lt;b&gt;x&lt;/b&gt; &lt;script&gt;alert(1)&lt;/script&gt; a&lt;br&gt;b",
    slack: "&lt;b&gt;x&lt;/b&gt; &lt;script&gt;alert(1)&lt;/script&gt; a&lt;br&gt;b",
    discord: "<b>x</b> <script>alert(1)</script> a<br>b",
  },
  { name: "hard break", markdown: "a  \nb\\\nc", telegram: "a\nb\nc", slack: "a\nb\nc", discord: "a\nb\nc" },
  {
    name: "mention",
    markdown: "@everyone <@123> <!channel> ||spoiler|| -# small",
    telegram: "@everyone &lt;@123&gt; &lt;!channel&gt; ||spoiler|| -# small",
    slack: "@everyone &lt;@123&gt; &lt;!channel&gt; ||spoiler|| -# small",
    discord: "@everyone <@123> <!channel> \\|\\|spoiler\\|\\| -# small",
  },
  {
    name: "paragraphs",
    markdown: "a\nb\n\n\n\nc",
    telegram: "a\nb\n\nc",
    slack: "a\nb\n\nc",
    discord: "a\nb\n\nc",
  },
  {
    name: "mail, and a pipe in an address",
    markdown: "[write](mailto:a@x.example) [a](https://x.example/a|b)",
    telegram: '<a href="mailto:a@x.example">write</a> <a href="https://x.example/a|b">a</a>',
    slack: "<mailto:a@x.example|write> <https://x.example/a%7Cb|a>",
    discord: "[write](<mailto:a@x.example>) [a](<https://x.example/a|b>)",
  },
  {
    name: "a row with more cells than columns",
    markdown: "| a | b |\n|---|---|\n| 1 | 2 | 3 \\| 4 |\n| 5 |",
    telegram: "<pre>a | b\n--|---|------\n1 | 2 | 3 | 4\n5 |</pre>",
    slack: "```\na | b\n--|---|------\n1 | 2 | 3 | 4\n5 |\n```",
    discord: "```\na | b\n--|---|------\n1 | 2 | 3 | 4\n5 |\n```",
  },
  {
    name: "a link in bold",
    markdown: "**[a](https://x.example)** **https://x.example**",
    telegram:
      '<b><a href="https://x.example">a</a></b> <b><a href="https://x.example">https://x.example</a></b>',
    slack: "*<https://x.example|a>* *<https://x.example>*",
    discord: "**[a](<https://x.example>)** **https://x.example**",
  },
];

test.each(CONSTRUCTS)("$name", ({ markdown, telegram, slack, discord }) => {
  expect(writeTelegramHtml(markdown)).toBe(telegram);
  expect(writeMrkdwn(markdown)).toBe(slack);
  expect(writeDiscordText(markdown)).toBe(discord);
});

const SIGNS = '* ** *** _ __ ~~a `a ``a [ ] ( ) ](https://x.example/) ![ < > & | # ## - 1. > \\ "'.split(" ");
const BLOCKS = [
  "\n",
  "\n\n",
  "```ts\n",
  "~~~\n",
  "\n```\n",
  "> ",
  "- ",
  "- [x] ",
  "  ",
  "| a | b |\n|---|---|\n",
  "</b>",
  "&amp;",
  "a_b_c",
];

/** Any Markdown, with numbered words in it. */
const texts = fc
  .array(fc.oneof(fc.constantFrom(...SIGNS, ...BLOCKS, " "), fc.constant(undefined)), {
    maxLength: 200,
  })
  .map((pieces) => pieces.map((piece, at) => piece ?? `word${at} `).join(""));

const words = (text: string): string[] => text.match(/word\d+/g) ?? [];

test("whatever the model writes, Telegram can read it, and every part fits with its words", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 60, max: 600 }), (markdown, limit) => {
      const read = splitForTelegram(markdown, limit).map((part) => readHtml(writeTelegramHtml(part)));
      expect(read.map(({ ok }) => ok)).not.toContain(false);
      expect(words(read.map((part) => (part.ok ? part.text : "")).join("\n"))).toEqual(words(markdown));
    }),
    // A row that is longer than a part.
    {
      numRuns: 2_000,
      examples: [["| a | b |\n|---|---|\n](https://x.example/)word2 word3 word4 word5 ", 60]],
    },
  );
});

test("no word is lost in Slack's and Discord's forms, and every part fits", () => {
  fc.assert(
    fc.property(texts, (markdown) => {
      const slack = splitForSlack(markdown, 500, true);
      const discord = splitForDiscord(markdown, 500);
      expect([...slack, ...discord].filter((part) => part.length > 500)).toEqual([]);
      expect(words(slack.map(writeMrkdwn).join("\n"))).toEqual(words(markdown));
      expect(words(discord.map(writeDiscordText).join("\n"))).toEqual(words(markdown));
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  "<!channel>",
  "**<!here>**",
  "<@U123>",
  "`<!everyone>`",
  "```\n<!channel>\n```",
  "[<!channel>](https://x.example)",
  "[a](<!channel>)",
  "[a](https://x.example/<!channel>)",
  "[a](https://x.example|<!channel>)",
  "<https://x.example><!channel>",
  "\\<!channel\\>",
  "<https://x.example|<!channel>>",
  "<mailto:a><@U123>",
  "# <!channel>",
  "- <!subteam^S1>",
])("nobody on Slack is called by %s", (markdown) => {
  const rendered = writeMrkdwn(markdown);
  for (const [, inside] of rendered.matchAll(/<([^>]*)>?/g)) {
    expect(inside).toMatch(/^(?:https?:\/\/|mailto:)/);
    expect(inside).not.toContain("<");
  }
});
