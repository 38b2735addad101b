/** A reference to an environment variable in a config. */
export interface Reference {
  /** Its place, such as `channels.slack.botToken`. */
  path: string;
  /** The variable. */
  name: string;
}

/** Tells whether a value of a config is a reference to a variable. */
export function isReference(value: unknown): value is { env: string } {
  if (typeof value !== "object" || value === null) return false;
  if (!("env" in value) || typeof value.env !== "string" || Object.keys(value).length !== 1) return false;
  // Anything else under `env` may be a secret that was put there, and no name that may be told.
  return /^[A-Z][A-Z0-9_]*$/.test(value.env);
}

/** Collects the references of a parsed config, valid or not, but for those in a section that is switched off. */
export function references(value: unknown, path: string[] = []): Reference[] {
  if (typeof value !== "object" || value === null) return [];
  if ("enabled" in value && value.enabled === false) return [];
  if (isReference(value)) return [{ path: path.join("."), name: value.env }];
  return Object.entries(value).flatMap(([key, item]) => references(item, [...path, key]));
}

/** Collects the references of a config's text. A text that is not JSON has none. */
export function referencesInText(text: string): Reference[] {
  try {
    return references(JSON.parse(text));
  } catch {
    return [];
  }
}
