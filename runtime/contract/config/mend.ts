import { checkConfig, type ConfigProblem } from "./index.ts";
import { deprecatedKey, isSection, type ConfigSection } from "./deprecated.ts";
import { misplacedKey } from "./references.ts";
import { secretsOf } from "./text.ts";
import { gatewayVariables, secretNames, type Environment } from "../variables.ts";

/** Maximum number of passes. Migrating a key can reveal further deprecated keys. */
const MAX_ROUNDS = 8;
/** Matches the names of keys that may restrict access. */
const RIGHTS = /allow|deny|block|users|roles|policy/i;

export interface MendedConfig {
  value: unknown;
  /** One line per change, without values. */
  changes: string[];
  /** Problems that only a person can solve. */
  problems: ConfigProblem[];
}

/**
 * Migrates deprecated keys and drops unknown ones. Keeps keys that may restrict access, because without them the bot
 * might answer more people. The input is not modified.
 */
export function mendConfigValue(value: unknown): MendedConfig {
  const root = structuredClone(value);
  const changes: string[] = [];
  for (let round = 0; ; round += 1) {
    const checked = checkConfig(root);
    const problems = checked.ok ? [] : checked.problems;
    const unknown = problems.filter(
      (problem) => problem.unknownKey !== undefined && !restrictsAccess(problem),
    );
    if (unknown.length === 0 || round === MAX_ROUNDS || !isSection(root))
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

/**
 * Returns true if the unknown key's name suggests that the key restricts access, or if the key is in a group's
 * settings. Returns false for deprecated keys.
 */
function restrictsAccess({ path, at = [], unknownKey = "" }: ConfigProblem): boolean {
  if (deprecatedKey(path, unknownKey) !== undefined) return false;
  return RIGHTS.test(unknownKey) || (at[0] === "channels" && at.length > 3);
}

function sectionAt(value: unknown, path: readonly PropertyKey[]): ConfigSection | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return isSection(value) ? value : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return sectionAt((value as Record<PropertyKey, unknown>)[key], rest);
}

/**
 * Replaces each literal secret with a reference to the variable that has the same value, if there is one. Modifies
 * `value`.
 *
 * @returns one line per change, without values.
 */
export function moveSecrets(value: unknown, environment: Environment): string[] {
  const offered = gatewayVariables(environment);
  const names = secretNames(environment);
  return secretsOf(value).flatMap(({ path, secret }) => {
    if (typeof secret !== "string" || secret === "") return [];
    const name = names.find((one) => offered[one] === secret);
    const keys = path.split(".");
    const section = sectionAt(value, keys.slice(0, -1));
    const key = keys.at(-1) ?? "";
    if (name === undefined || section?.[key] !== secret) return [];
    if (misplacedKey({ path, name }, environment) !== undefined) return [];
    section[key] = { env: name };
    return [`- ${path} (in ${name})`];
  });
}
