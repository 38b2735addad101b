import { nearest } from "../nearest.ts";
import { deprecatedKey } from "./deprecated.ts";
import { keysAt } from "./schema-at.ts";
import { configSchema, type Config } from "./schema.ts";

export type { Config } from "./schema.ts";

/** One thing wrong with a config: where, and what. */
export interface ConfigProblem {
  /** Dotted path of the object or value, for example `channels.telegram`; empty for the root. */
  path: string;
  message: string;
  /** Line of the file's text, from 1, if the text itself shows it. */
  line?: number;
  /** The key itself, where the schema does not have it, the one that was probably meant, and the keys that lead there. */
  unknownKey?: string;
  meant?: string;
  at?: readonly PropertyKey[];
}

/** A config, or everything that is wrong with it. */
export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: ConfigProblem[] };

/** Checks a parsed config file and reports all of its problems at once. */
export function checkConfig(value: unknown): ConfigResult {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return { ok: true, config: parsed.data };
  const problems = parsed.error.issues.flatMap((issue): ConfigProblem[] => {
    const path = issue.path.join(".");
    if (issue.code === "invalid_key") return issue.issues.map(({ message }) => ({ path, message }));
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
    const known = keysAt(path);
    return issue.keys.map((key) => {
      const meant = deprecatedKey(path, key) === undefined ? nearest(key, known) : undefined;
      const message = unknownKeyMessage(path, key);
      return { path, at: issue.path, unknownKey: key, ...(meant !== undefined && { meant }), message };
    });
  });
  return { ok: false, problems };
}

// The first words are the reference's; scripts look for them.
function unknownKeyMessage(path: string, key: string): string {
  const known = deprecatedKey(path, key);
  return `Unrecognized key: "${key}"${known ? ` (deprecated: ${known.use})` : ""}`;
}

/** Returns a problem's message, with the key that was probably meant. */
export function withMeant({ message, meant }: ConfigProblem): string {
  return meant === undefined ? message : `${message}; did you mean "${meant}"?`;
}

/**
 * The report of an invalid config: a head line, then one line a problem. The wording is what
 * operators and their scripts look for (specification, section 7).
 */
export function formatConfigProblems(file: string, problems: readonly ConfigProblem[]): string {
  const lines = problems.map((one) => `- ${one.path === "" ? "(root)" : one.path}: ${withMeant(one)}`);
  return [`Invalid config at ${file}:`, ...lines].join("\n");
}
