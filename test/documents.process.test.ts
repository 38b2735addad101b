import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { repositoryPage } from "../scripts/package-links.ts";
import { pictureSources, PICTURES_MADE_FROM } from "./support/pictures.ts";

const pages = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" }).trim().split("\n");

/** The anchors of a page's headings, as GitHub makes them. */
function anchors(text: string): string[] {
  return text
    .replaceAll(/^```.*?^```/gms, "")
    .split("\n")
    .filter((line) => /^#+ /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, "")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
        .replaceAll(" ", "-"),
    );
}

test("the pictures show the pages as they are: `npm run pictures` makes them", () => {
  expect(readFileSync(PICTURES_MADE_FROM, "utf8").trim()).toBe(pictureSources());
});

test("every link of a page leads somewhere", () => {
  const broken = pages.flatMap((page) => {
    const text = readFileSync(page, "utf8").replaceAll(/^```.*?^```/gms, "");
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? page : path.join(path.dirname(page), file);
      if (!existsSync(target)) return [`${page}: ${link}`];
      if (anchor === undefined || statSync(target).isDirectory()) return [];
      return anchors(readFileSync(target, "utf8")).includes(anchor) ? [] : [`${page}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});

test("pages name the repository that package.json names", () => {
  const own = repositoryPage(packageJson.repository.url);
  const name = own.split("/").at(-1) ?? "";
  const named = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/https:\/\/github\.com\/[\w.-]+\/([\w-]+)/g)]
      .filter(([, repository]) => repository === name)
      .map(([url]) => ({ page, url })),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter(({ url }) => url !== own)).toEqual([]);
});

test("every source file that a folder's README names is in that folder", () => {
  const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n");
  const readmes = pages.filter((page) => page.endsWith("/README.md") && page !== "test/README.md");
  expect(readmes.length).toBeGreaterThan(3);
  const missing = readmes.flatMap((page) => {
    const inside = files.filter((file) => file.startsWith(`${path.dirname(page)}/`));
    const names = [...readFileSync(page, "utf8").matchAll(/`([\w./-]+\.[jt]s)`/g)].map(
      ([, name = ""]) => name,
    );
    return names
      .filter((name) => !files.includes(name) && !inside.some((file) => file.endsWith(`/${name}`)))
      .map((name) => `${page}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test("sentences of the pages for readers have at most 30 words", () => {
  const long = pages
    .filter((page) => /^docs\/[^/]+$/.test(page))
    .flatMap((page) =>
      readFileSync(page, "utf8")
        .replaceAll(/^```.*?^```/gms, "")
        .replaceAll(/^ *\|.*$/gm, "")
        .replaceAll(/^(#+|-|\d+\.) /gm, "\n\n")
        .split(/\n\s*\n|(?<=[.?!]) +|(?<=[.?!])\n/)
        .map((sentence) => sentence.trim().split(/\s+/))
        .filter((words) => words.length > 30)
        .map((words) => `${page}: ${words.join(" ")}`),
    );
  expect(long).toEqual([]);
});

test("the README has at most 1,500 words", () => {
  expect(readFileSync("README.md", "utf8").split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(1_500);
});

test("the glossary has at most 40 terms, each explained in one sentence", () => {
  const [terms = ""] = readFileSync("docs/glossary.md", "utf8").split("| instead of |");
  const rows = [...terms.matchAll(/^\| ([a-z][a-z -]*) \| (.+) \|$/gm)].filter(([, term]) => term !== "term");
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.length).toBeLessThanOrEqual(40);
  for (const [, , meaning] of rows) expect(meaning).toMatch(/^[^.]+\.$/);
  const names = rows.map(([, term]) => term);
  expect(names).toEqual([...names].sort());
});
