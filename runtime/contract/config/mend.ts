import { checkConfig, type ConfigProblem } from "./index.ts";
import { deprecatedKey, isSection, type Section } from "./deprecated.ts";

/** Deprecated keys may carry others with them, as a whole channel that stood at the top does. */
const MOST_ROUNDS = 8;

/** A config without the keys that the schema refuses. */
export interface Mended {
  value: unknown;
  /** One line a change, without any value. */
  changes: string[];
  /** What is left that only a person can mend. */
  problems: ConfigProblem[];
}

/** Carries deprecated keys over to what is there now and drops unknown ones. The value given is left as it is. */
export function mendConfig(value: unknown): Mended {
  const root = structuredClone(value);
  const changes: string[] = [];
  for (let round = 0; ; round += 1) {
    const checked = checkConfig(root);
    const problems = checked.ok ? [] : checked.problems;
    const unknown = problems.filter(({ unknownKey }) => unknownKey !== undefined);
    if (unknown.length === 0 || round === MOST_ROUNDS || !isSection(root))
      return { value: root, changes, problems };
    for (const { path, at = [], unknownKey = "" } of unknown) {
      const section = sectionAt(root, at);
      if (section === undefined) continue;
      const known = deprecatedKey(path, unknownKey);
      const before = section[unknownKey];
      delete section[unknownKey];
      known?.mend?.(before, section, root);
      const where = path === "" ? unknownKey : `${path}.${unknownKey}`;
      changes.push(`- ${where}${known ? ` (${known.use})` : " (unknown)"}`);
    }
  }
}

function sectionAt(value: unknown, path: readonly PropertyKey[]): Section | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return isSection(value) ? value : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return sectionAt((value as Record<PropertyKey, unknown>)[key], rest);
}
