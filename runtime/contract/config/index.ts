import { nearest } from "../nearest.ts";
import { deprecatedKey } from "./deprecated.ts";
import { keysAt } from "./schema-at.ts";
import { configSchema, type Config } from "./schema.ts";

export type { Config } from "./schema.ts";

export interface ConfigProblem {
  /** Dotted path of the object or value, for example `channels.telegram`; empty for the root. */
  path: string;
  message: string;
  /** Line in the file, counted from 1. Set only for a JSON syntax error or a repeated key. */
  line?: number;
  /**
   * Key that the schema does not define, in the object at path `at`. `meant` is the key that was probably intended.
   */
  unknownKey?: string;
  meant?: string;
  at?: readonly PropertyKey[];
}

export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: ConfigProblem[] };

/** Validates a parsed config and reports all problems. */
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

// Do not change the first two words: operators' scripts search for them.
function unknownKeyMessage(path: string, key: string): string {
  const known = deprecatedKey(path, key);
  return `Unrecognized key: "${key}"${known ? ` (deprecated: ${known.use})` : ""}`;
}

export function withMeant({ message, meant }: ConfigProblem): string {
  return meant === undefined ? message : `${message}; did you mean "${meant}"?`;
}

/**
 * Returns the report of an invalid config: a header, then one line per problem. Operators' scripts rely on the wording
 * (specification, section 7).
 */
export function formatConfigProblems(file: string, problems: readonly ConfigProblem[]): string {
  const lines = problems.map((one) => `- ${one.path === "" ? "(root)" : one.path}: ${withMeant(one)}`);
  return [`Invalid config at ${file}:`, ...lines].join("\n");
}
