import { expect, test } from "vitest";
import { absoluteLinks } from "../../scripts/package-links.ts";

const REPOSITORY = { url: "https://github.com/example/steward", ref: "release-1.2.3" };
const FILES = ["LICENSE", "templates/host"];
const linked = (text: string, page = "README.md") =>
  absoluteLinks(text, page, (file) => FILES.includes(file), REPOSITORY);

test.each([
  [
    "[a](docs/a.md#one)",
    "README.md",
    "[a](https://github.com/example/steward/blob/release-1.2.3/docs/a.md#one)",
  ],
  ["[a](../a.md)", "docs/b/c.md", "[a](https://github.com/example/steward/blob/release-1.2.3/docs/a.md)"],
  ["![a](a.png)", "README.md", "![a](https://github.com/example/steward/raw/release-1.2.3/a.png)"],
  [
    '<img src="a/b.svg">',
    "README.md",
    '<img src="https://github.com/example/steward/raw/release-1.2.3/a/b.svg">',
  ],
])("%s of %s leads to the repository", (text, page, expected) => {
  expect(linked(text, page)).toBe(expected);
});

test.each([
  "[a](LICENSE)",
  "[a](./templates/host)",
  "[a](#chapter)",
  "[a](https://example.com/a)",
  "[a] (b)",
])("%s stays", (text) => {
  expect(linked(text)).toBe(text);
});
