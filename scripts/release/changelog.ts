import { type ChangelogSection, sectionsOf, UNRELEASED } from "../../infra/shell/changelog.ts";

export function releasesIn(changelog: string): ChangelogSection[] {
  return sectionsOf(changelog).filter(({ name }) => name !== UNRELEASED);
}

/** Returns true if a section lists changes, not only an introduction. */
export function hasChanges({ text }: ChangelogSection): boolean {
  return /^[-*] \S/m.test(text);
}

/**
 * Moves the unreleased changes into a version's section, unless that section already lists changes.
 *
 * @param date as `2026-11-27`
 * @returns the new text; `undefined` if no change is listed
 */
export function releaseUnreleased(changelog: string, version: string, date: string): string | undefined {
  const sections = sectionsOf(changelog);
  const isListed = ({ name }: ChangelogSection): boolean => name === version;
  if (sections.some((section) => isListed(section) && hasChanges(section))) return changelog;
  const unreleased = sections.find(({ name }) => name === UNRELEASED);
  if (unreleased === undefined || !hasChanges(unreleased)) return undefined;
  const start = changelog.search(/^## \[/m);
  const headings = sections
    .filter((section) => !isListed(section))
    .map(({ name, date: dated, text }) => {
      const heading =
        name === UNRELEASED ? `## [${UNRELEASED}]\n\n## [${version}] - ${date}` : `## [${name}]`;
      return `${heading}${dated === undefined ? "" : ` - ${dated}`}\n\n${text}\n`;
    });
  return `${changelog.slice(0, start)}${headings.join("\n")}`;
}
