/** A section of CHANGELOG.md, formatted as https://keepachangelog.com/en/1.1.0/ */
export interface ChangelogSection {
  /** `0.1.0` or `Unreleased`. */
  name: string;
  /** Release date, such as `2026-11-27`; `undefined` if the heading has none. */
  date: string | undefined;
  /** Trimmed Markdown below the heading. */
  text: string;
}

export const UNRELEASED = "Unreleased";
const HEADING = /^## \[([^\]\n]+)\](?: - (\d{4}-\d{2}-\d{2}))?[ \t]*$/;

export function sectionsOf(changelog: string): ChangelogSection[] {
  const sections: (Pick<ChangelogSection, "name" | "date"> & { lines: string[] })[] = [];
  for (const line of changelog.split(/\r?\n/)) {
    const [, name, date] = HEADING.exec(line) ?? [];
    if (name === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ name, date, lines: [] });
  }
  return sections.map(({ name, date, lines }) => ({
    name,
    date,
    text: lines.join("\n").trim(),
  }));
}
