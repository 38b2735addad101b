import { expect, test } from "vitest";
import { writeMrkdwn } from "../../../runtime/gateway/channels/slack/mrkdwn.ts";

test.each([
  ["bold", "a **bold** word", "a *bold* word"],
  ["bold by underscores", "a __bold__ word", "a *bold* word"],
  ["italic", "an *italic* word", "an _italic_ word"],
  ["italic by underscores", "an _italic_ word", "an _italic_ word"],
  ["bold and italic", "***both***", "*_both_*"],
  ["bold in italic", "*all **bold** here*", "_all *bold* here_"],
  ["italic in bold", "**all *italic* here**", "*all _italic_ here*"],
  ["struck", "~~gone~~", "~gone~"],
  ["two on a line", "**a** and **b**", "*a* and *b*"],
  ["a sum", "2 * 3 * 4 ** 5", "2 * 3 * 4 ** 5"],
  ["a name with underscores", "snake_case_name and __init__.py", "snake_case_name and *init*.py"],
  ["an escaped star", "\\*not italic\\*", "*not italic*"],
  ["a heading", "## What *is* **it**? ##", "*What _is_ it?*"],
  ["a heading that ends in a sign", "# About C#", "*About C#*"],
  ["no heading", "#hashtag", "#hashtag"],
  ["a list", "- one\n* two\n  + three\n1. four", "• one\n• two\n  • three\n1. four"],
  ["a break", "a\n\n---\n\nb", "a\n\n———\n\nb"],
  ["a quote", "> said", "&gt; said"],
  ["a link", "[a page](https://x.example/?a=1&b=2)", "<https://x.example/?a=1&amp;b=2|a page>"],
  ["a link with a title", '[a](https://x.example "title")', "<https://x.example|a>"],
  ["a link with brackets", "[a](https://x.example/b_(c))", "<https://x.example/b_(c)|a>"],
  ["an image", "![a cat](https://x.example/cat.png)", "<https://x.example/cat.png|a cat>"],
  ["a styled label", "[**a**](https://x.example)", "<https://x.example|a>"],
  ["a link in bold", "**[a](https://x.example)**", "*<https://x.example|a>*"],
  ["an address in angles", "<https://x.example/a_b_c>", "<https://x.example/a_b_c>"],
  ["an address", "see https://x.example/a_b_c?d=1&e=2", "see https://x.example/a_b_c?d=1&amp;e=2"],
  ["an address in bold", "**https://x.example**", "*https://x.example*"],
  ["mail", "[write](mailto:a@x.example)", "<mailto:a@x.example|write>"],
  ["another scheme", "[a](javascript:alert)", "[a](javascript:alert)"],
  ["a pipe in an address", "[a](https://x.example/a|b)", "<https://x.example/a%7Cb|a>"],
  ["code", "`**a** <b> _c_`", "`**a** &lt;b&gt; _c_`"],
  ["code with a backtick", "``a ` b``", "`a ` b`"],
  ["a fence", "x\n```ts\na **b** <c>\n- d\n```\n**y**", "x\n```\na **b** &lt;c&gt;\n- d\n```\n*y*"],
  ["a fence of tildes", "~~~\na\n~~~", "```\na\n```"],
  ["a fence that is still open", "```\na", "```\na\n```"],
  ["a fence that has just begun", "```", "```\n\n```"],
])("%s", (_, markdown, mrkdwn) => {
  expect(writeMrkdwn(markdown)).toBe(mrkdwn);
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
])("nobody is called by %s", (markdown) => {
  const rendered = writeMrkdwn(markdown);
  for (const [, inside] of rendered.matchAll(/<([^>]*)>?/g)) {
    expect(inside).toMatch(/^(?:https?:\/\/|mailto:)/);
    expect(inside).not.toContain("<");
  }
});

test("a long line of markers takes no long time", () => {
  for (const piece of ["*", "**a", "_a", "[", "`", "~~a", "[a](", "*a**b"]) {
    expect(writeMrkdwn(piece.repeat(2_000)).length).toBeGreaterThan(0);
  }
  expect(writeMrkdwn(`# ${" ".repeat(4_000)}a\u2028b`)).toBe("*a\u2028b*");
});
