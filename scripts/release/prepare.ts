import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import semver from "semver";
import { usageError } from "../../infra/shell/command.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { releaseUnreleased } from "./changelog.ts";

const VERSION_FILES = [
  { file: "package.json", pattern: /^( {2}"version": )"[^"]*"/m },
  { file: "package-lock.json", pattern: /^( {2}"version": )"[^"]*"/m },
  { file: "package-lock.json", pattern: /^( {6}"version": )"[^"]*"/m },
  { file: "runtime/contract/names.ts", pattern: /^(export const VERSION = )"[^"]*"/m },
] as const;

/**
 * Writes a version into all files that contain it, and updates CHANGELOG.md.
 *
 * @param today as `2026-11-27`
 * @throws CommanderError if `version` is not a semantic version; BuildFailure `changelog_section_empty` if
 * CHANGELOG.md lists no change
 */
export async function prepareRelease(root: string, version: string, today: string): Promise<void> {
  if (semver.valid(version) !== version)
    throw usageError(`${version} is not a semantic version such as 1.2.3`);
  const changelog = path.join(root, "CHANGELOG.md");
  const released = releaseUnreleased(await readFile(changelog, "utf8"), version, today);
  if (released === undefined) {
    throw new BuildFailure(
      "changelog_section_empty",
      `CHANGELOG.md lists no change for ${version}`,
      "List the changes under `## [Unreleased]`, as `- …`, then run this again.",
    );
  }
  await writeFile(changelog, released);
  for (const { file, pattern } of VERSION_FILES) {
    const place = path.join(root, file);
    const text = await readFile(place, "utf8");
    await writeFile(
      place,
      text.replace(pattern, (_, start: string) => `${start}"${version}"`),
    );
  }
}
