import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { sectionsOf } from "../../../infra/shell/changelog.ts";
import { releasesIn } from "../../../scripts/release/changelog.ts";
import { prepareRelease } from "../../../scripts/release/prepare.ts";

const TODAY = "2026-11-27";
const CHANGELOG = `# Changelog

An introduction.

## [Unreleased]

### Added
- A door.

### Changed
- A wall.

## [0.1.0] - 2026-10-01

- A house.
`;
const LOCK = {
  name: "steward",
  version: "0.1.0",
  packages: { "": { name: "steward", version: "0.1.0" }, "node_modules/a": { version: "0.1.0" } },
};

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "steward-prepare-"));
  onTestFinished(() => rm(root, { recursive: true }));
  await mkdir(path.join(root, "runtime/contract"), { recursive: true });
  await write("package.json", JSON.stringify({ name: "steward", version: "0.1.0" }, undefined, 2));
  await write("package-lock.json", JSON.stringify(LOCK, undefined, 2));
  await write(
    "runtime/contract/names.ts",
    'export const AGENT = "steward";\nexport const VERSION = "0.1.0";\n',
  );
  await write("CHANGELOG.md", CHANGELOG);
});

const write = (file: string, text: string) => writeFile(path.join(root, file), text);
const read = (file: string) => readFile(path.join(root, file), "utf8");

test("the version goes into each file that names it, and nowhere else", async () => {
  await prepareRelease(root, "0.2.0", TODAY);
  expect(JSON.parse(await read("package.json"))).toEqual({ name: "steward", version: "0.2.0" });
  expect(JSON.parse(await read("package-lock.json"))).toEqual({
    name: "steward",
    version: "0.2.0",
    packages: { "": { name: "steward", version: "0.2.0" }, "node_modules/a": { version: "0.1.0" } },
  });
  expect(await read("runtime/contract/names.ts")).toContain(
    'AGENT = "steward";\nexport const VERSION = "0.2.0";',
  );
});

test("what is unreleased becomes the section of the version, and stays as it is written", async () => {
  await prepareRelease(root, "0.2.0", TODAY);
  const text = await read("CHANGELOG.md");
  expect(text).toBe(CHANGELOG.replace("[Unreleased]", "[Unreleased]\n\n## [0.2.0] - 2026-11-27"));
  expect(releasesIn(text).map(({ name, date }) => [name, date])).toEqual([
    ["0.2.0", TODAY],
    ["0.1.0", "2026-10-01"],
  ]);
});

test("a section that lists changes stays, so running it again changes nothing", async () => {
  await prepareRelease(root, "0.2.0", TODAY);
  const once = await read("CHANGELOG.md");
  await prepareRelease(root, "0.2.0", "2026-11-28");
  expect(await read("CHANGELOG.md")).toBe(once);
});

test("an empty section of the version gets the unreleased changes", async () => {
  await write("CHANGELOG.md", CHANGELOG.replace("## [0.1.0]", "## [0.2.0]\n\n## [0.1.0]"));
  await prepareRelease(root, "0.2.0", TODAY);
  const sections = sectionsOf(await read("CHANGELOG.md"));
  expect(sections.map(({ name, text }) => [name, text.slice(0, 9)])).toEqual([
    ["Unreleased", ""],
    ["0.2.0", "### Added"],
    ["0.1.0", "- A house"],
  ]);
});

test("without a change nothing is written", async () => {
  await write("CHANGELOG.md", CHANGELOG.replace(/^- A (?:door|wall)\.$/gm, ""));
  await expect(prepareRelease(root, "0.2.0", TODAY)).rejects.toMatchObject({
    code: "changelog_section_empty",
  });
  expect(await read("package.json")).toContain("0.1.0");
});

test.each(["1.2", "v1.2.3", "latest", "1.2.3 "])("%j is refused as a version", async (version) => {
  await expect(prepareRelease(root, version, TODAY)).rejects.toThrow("is not a semantic version");
});
