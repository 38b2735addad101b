import semver from "semver";
import { sectionsOf } from "../../infra/shell/changelog.ts";
import { hasChanges, releasesIn } from "./changelog.ts";

/** A reason not to release. Its `code` stays the same across versions. */
export interface ReleaseProblem {
  code: string;
  cause: string;
  fix: string;
}

export interface ReleaseFacts {
  version: string;
  builtVersion: string;
  changelog: string;
  /** Includes untracked files. */
  changedFiles: readonly string[];
  /** Tags of the target repository and of this clone. */
  tags: readonly string[];
  /** `undefined` if the registry did not answer. */
  onNpm: boolean | undefined;
  /** `https://github.com/<owner>/<name>` from package.json. */
  repository: string;
  /** `https://github.com/<owner>/<name>`; absent outside a workflow. */
  workflowRepository?: string;
  workflowTag?: string;
  /** Absent in a dry run, which needs no tag. */
  commitTags?: readonly string[];
  /** Date in UTC, as `2026-11-27`. */
  today: string;
}

/** Tag of the sources. Pushing it starts the release workflow. */
export const sourceTag = (version: string): string => `release-${version}`;
/** Tag with the built package. `pulumi package add` and npm install from it. */
export const builtTag = (version: string): string => `v${version}`;

const prepare = (version: string): string => `npm run release -- --prepare ${version}`;

export function releaseProblems(facts: ReleaseFacts): ReleaseProblem[] {
  const { version, builtVersion } = facts;
  if (semver.valid(version) !== version) {
    const cause = `package.json has the version ${JSON.stringify(version)}, which is not a semantic version (https://semver.org)`;
    const next = semver.coerce(version)?.version ?? "0.1.0";
    // The checks below compare versions, so they need a valid one.
    return [{ code: "version_invalid", cause, fix: prepare(next) }, ...treeProblems(facts)];
  }
  const problems = [
    ...changelogProblems(facts),
    ...treeProblems(facts),
    ...earlierReleaseProblems(facts),
    ...workflowProblems(facts),
  ];
  if (builtVersion !== version) {
    const cause = `the programs report version ${builtVersion}, and package.json has ${version}`;
    problems.unshift({ code: "version_differs", cause, fix: prepare(version) });
  }
  return problems;
}

function changelogProblems({ version, changelog, today }: ReleaseFacts): ReleaseProblem[] {
  const sections = releasesIn(changelog);
  const names = sections.map(({ name }) => name);
  const invalid = names.filter((name) => semver.valid(name) !== name);
  if (invalid.length > 0) {
    const cause = `CHANGELOG.md has sections without a semantic version: ${invalid.join(", ")}`;
    const fix = "Name each section as in `## [1.2.3] - 2026-11-27`.";
    return [{ code: "changelog_section_invalid", cause, fix }];
  }
  const problems: ReleaseProblem[] = [];
  const sorted = semver.rsort([...names]);
  if (sorted.join() !== names.join() || new Set(names).size !== names.length) {
    problems.push({
      code: "changelog_order_wrong",
      cause: `the sections of CHANGELOG.md are out of order: ${names.join(", ")}`,
      fix: `Put them in this order, each once: ${[...new Set(sorted)].join(", ")}.`,
    });
  }
  const [newest = version] = sorted;
  if (semver.gt(newest, version)) {
    problems.push({
      code: "version_too_low",
      cause: `CHANGELOG.md has a section of ${newest}, which is newer than ${version} of package.json`,
      fix: prepare(newest),
    });
  }

  const section = sections.find(({ name }) => name === version);
  if (section === undefined || !hasChanges(section)) {
    const unreleased = sectionsOf(changelog).find(({ name }) => name === "Unreleased");
    const canMove = unreleased !== undefined && hasChanges(unreleased);
    const write = `List the changes under \`## [${section === undefined ? "Unreleased" : version}]\`, as \`- …\``;
    const isMissing = section === undefined;
    problems.push({
      code: isMissing ? "changelog_section_missing" : "changelog_section_empty",
      cause: `CHANGELOG.md has no ${isMissing ? "section" : "change in the section"} of ${version}`,
      fix: canMove ? prepare(version) : isMissing ? `${write}, then: ${prepare(version)}` : `${write}.`,
    });
  } else if (section.date === undefined || section.date > today) {
    problems.push({
      code: "changelog_date_wrong",
      cause: `the section of ${version} in CHANGELOG.md has ${section.date === undefined ? "no date" : `the future date ${section.date}`}`,
      fix: `Write its heading as \`## [${version}] - ${today}\`.`,
    });
  }
  return problems;
}

function treeProblems({ changedFiles }: ReleaseFacts): ReleaseProblem[] {
  if (changedFiles.length === 0) return [];
  const shown = changedFiles.slice(0, 5).join(", ");
  const more = changedFiles.length > 5 ? ` and ${changedFiles.length - 5} more` : "";
  const cause = `there are uncommitted changes: ${shown}${more}`;
  return [{ code: "tree_dirty", cause, fix: "Commit them, or: git stash --include-untracked" }];
}

function earlierReleaseProblems({ version, tags, onNpm }: ReleaseFacts): ReleaseProblem[] {
  const problems: ReleaseProblem[] = [];
  const released = tags
    .filter((tag) => tag === builtTag(semver.valid(tag) ?? ""))
    .map((tag) => tag.slice("v".length));
  const [highest = version] = semver.rsort([...released]);
  const next = semver.inc(semver.gt(highest, version) ? highest : version, "patch") ?? version;
  const places = [
    ...(released.includes(version) ? [`as the tag ${builtTag(version)}`] : []),
    ...(onNpm === true ? ["on npm"] : []),
  ];
  if (places.length > 0) {
    const cause = `version ${version} is already released, ${places.join(" and ")}`;
    problems.push({ code: "version_released", cause, fix: prepare(next) });
  } else if (semver.gt(highest, version)) {
    const cause = `version ${version} is lower than ${highest}, which is released`;
    problems.push({ code: "version_too_low", cause, fix: prepare(next) });
  }
  return problems;
}

function workflowProblems(facts: ReleaseFacts): ReleaseProblem[] {
  const { version, workflowTag, commitTags, repository, workflowRepository = repository } = facts;
  const problems: ReleaseProblem[] = [];
  const wanted = sourceTag(version);
  const fix = `git tag ${wanted} && git push origin ${wanted}`;
  if (workflowTag !== undefined && workflowTag !== wanted) {
    const cause = `the tag ${workflowTag} started this release, and package.json has version ${version}`;
    problems.push({ code: "tag_differs", cause, fix });
  } else if (commitTags !== undefined && !commitTags.includes(wanted)) {
    problems.push({ code: "tag_missing", cause: `this commit has no tag ${wanted}`, fix });
  }
  if (workflowRepository !== repository) {
    // npm rejects the package's provenance if the two repositories differ:
    // https://docs.npmjs.com/generating-provenance-statements
    const cause = `package.json names the repository ${repository}, and this one is ${workflowRepository}`;
    const values = `repository.url=git+${workflowRepository}.git homepage=${workflowRepository}#readme bugs.url=${workflowRepository}/issues`;
    problems.push({ code: "repository_differs", cause, fix: `npm pkg set ${values}` });
  }
  return problems;
}
