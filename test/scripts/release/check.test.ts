import { describe, expect, test } from "vitest";
import { type ReleaseFacts, releaseProblems } from "../../../scripts/release/check.ts";

const CHANGELOG = `# Changelog

## [Unreleased]

## [0.2.0] - 2026-11-27

### Added
- A door.

## [0.1.0] - 2026-10-01

- A house.
`;

const READY: ReleaseFacts = {
  version: "0.2.0",
  builtVersion: "0.2.0",
  changelog: CHANGELOG,
  changedFiles: [],
  tags: ["v0.1.0", "release-0.2.0"],
  onNpm: false,
  repository: "https://github.com/example/steward",
  workflowRepository: "https://github.com/example/steward",
  workflowTag: "release-0.2.0",
  commitTags: ["release-0.2.0"],
  today: "2026-11-27",
};

const problemsWith = (changed: Partial<ReleaseFacts>) => releaseProblems({ ...READY, ...changed });

test("a version that is ready has no problems", () => {
  expect(problemsWith({})).toEqual([]);
});

test("a dry run of a checkout, with a registry that does not answer, has no problems", () => {
  const { workflowRepository: _, workflowTag: __, commitTags: ___, ...facts } = READY;
  expect(releaseProblems({ ...facts, onNpm: undefined })).toEqual([]);
});

describe("each problem is reported with its fix", () => {
  const without = (text: string) => CHANGELOG.replace(text, "");
  test.each<[code: string, Partial<ReleaseFacts>, cause: string, fix: string]>([
    ["version_invalid", { version: "0.2" }, '"0.2"', "npm run release -- --prepare 0.2.0"],
    ["version_invalid", { version: "v0.2.0" }, '"v0.2.0"', "npm run release -- --prepare 0.2.0"],
    ["version_differs", { builtVersion: "0.1.0" }, "0.1.0", "npm run release -- --prepare 0.2.0"],
    ["tree_dirty", { changedFiles: ["a.ts"] }, "a.ts", "git stash --include-untracked"],
    ["version_released", { tags: ["v0.2.0"] }, "the tag v0.2.0", "npm run release -- --prepare 0.2.1"],
    ["version_released", { onNpm: true }, "on npm", "npm run release -- --prepare 0.2.1"],
    ["version_too_low", { tags: ["v0.10.0", "v0.9.0"] }, "0.10.0", "npm run release -- --prepare 0.10.1"],
    ["tag_differs", { workflowTag: "release-0.3.0" }, "release-0.3.0", "git tag release-0.2.0"],
    ["tag_missing", { commitTags: ["v0.1.0"] }, "no tag release-0.2.0", "git tag release-0.2.0"],
    [
      "repository_differs",
      { workflowRepository: "https://github.com/acme/steward" },
      "https://github.com/acme/steward",
      "npm pkg set repository.url=git+https://github.com/acme/steward.git homepage=https://github.com/acme/steward#readme bugs.url=https://github.com/acme/steward/issues",
    ],
    [
      "changelog_section_missing",
      { changelog: without("## [0.2.0] - 2026-11-27\n") },
      "no section of 0.2.0",
      "npm run release -- --prepare 0.2.0",
    ],
    [
      "changelog_section_missing",
      { changelog: "# Changelog\n" },
      "no section of 0.2.0",
      "List the changes under `## [Unreleased]`",
    ],
    [
      "changelog_section_empty",
      { changelog: without("- A door.\n") },
      "no change in the section of 0.2.0",
      "List the changes under `## [0.2.0]`",
    ],
    [
      "changelog_section_empty",
      { changelog: without("- A door.\n").replace("[Unreleased]\n", "[Unreleased]\n- A window.\n") },
      "no change in the section of 0.2.0",
      "npm run release -- --prepare 0.2.0",
    ],
    ["changelog_date_wrong", { changelog: without(" - 2026-11-27") }, "no date", "## [0.2.0] - 2026-11-27"],
    ["changelog_date_wrong", { today: "2026-11-26" }, "2026-11-27", "## [0.2.0] - 2026-11-26"],
    [
      "changelog_section_invalid",
      { changelog: CHANGELOG.replace("[0.1.0]", "[0.1]") },
      "0.1",
      "## [1.2.3] - 2026-11-27",
    ],
    [
      "changelog_order_wrong",
      { changelog: `${CHANGELOG}\n## [0.1.1] - 2026-10-02\n- A roof.\n` },
      "0.2.0, 0.1.0, 0.1.1",
      "0.2.0, 0.1.1, 0.1.0",
    ],
    [
      "version_too_low",
      { changelog: CHANGELOG.replace("## [0.2.0]", "## [0.3.0] - 2026-11-27\n- More.\n\n## [0.2.0]") },
      "0.3.0",
      "npm run release -- --prepare 0.3.0",
    ],
  ])("%s with %j", (code, changed, cause, fix) => {
    const problems = problemsWith(changed);
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(problems[0]?.cause).toContain(cause);
    expect(problems[0]?.fix).toContain(fix);
  });
});

test("versions are compared as semantic versions, a release candidate below its release", () => {
  expect(problemsWith({ tags: ["v0.2.0-rc.9", "v0.2.0-rc.10", "v-none", "v0.1"] })).toEqual([]);
});

test("all problems come at once", () => {
  const problems = problemsWith({
    builtVersion: "0.1.9",
    changelog: "",
    changedFiles: Array.from({ length: 7 }, (_, index) => `file-${index}`),
    tags: ["v0.2.0"],
    workflowTag: "release-9.9.9",
    workflowRepository: "https://github.com/acme/other",
  });
  expect(problems.map(({ code }) => code)).toEqual([
    "version_differs",
    "changelog_section_missing",
    "tree_dirty",
    "version_released",
    "tag_differs",
    "repository_differs",
  ]);
  expect(problems[2]?.cause).toContain("file-4 and 2 more");
});
