import { formatConfigProblems } from "../../contract/config/index.ts";
import { keysOf } from "../../contract/config/paths.ts";
import { isSection, type ConfigSection } from "../../contract/config/deprecated.ts";
import { readConfigText, secretsOf } from "../../contract/config/text.ts";
import { StewardError } from "../../contract/errors.ts";
import { withScheduleChecks } from "../../process/config-file.ts";
import { withConfigLock } from "../../process/config-file.ts";
import { writeFileAtomic } from "../../process/files.ts";
import { readConfigFile } from "./config-file.ts";
import type { CommandContext } from "./context.ts";

interface SetOptions {
  /**
   * Environment variable that the config references for this value; `undefined` if the config contains the value
   * itself.
   */
  env: string | undefined;
  /** Allows a secret in plain text. */
  plain: boolean | undefined;
}

// Refuse keys that would change the object's prototype, and empty keys.
const NO_KEYS = new Set(["__proto__", "constructor", "prototype", ""]);

/**
 * Sets one config value, if the changed file as a whole is valid.
 *
 * @throws StewardError `config_refused`, `config_invalid`, `secret_in_plain`, `usage_invalid`, `config_missing`.
 */
export async function setConfig(
  context: CommandContext,
  path: string,
  text: string | undefined,
  options: SetOptions,
): Promise<void> {
  if ((text === undefined) === (options.env === undefined)) {
    throw new StewardError("usage_invalid", "Give either a value or --env NAME.");
  }
  const keys = keysOf(path);
  const value = text === undefined ? { env: options.env } : jsonOrText(text);
  if (!options.plain && text !== undefined) refusePlainSecret(context, keys, value, path);
  await change(context, (root) => {
    const section = keys.slice(0, -1).reduce<unknown>((at, key) => child(at, key, path), root);
    const last = keys.at(-1) ?? "";
    if (!isSection(section) || NO_KEYS.has(last)) throw notFound(path);
    section[last] = value;
  });
}

/**
 * Removes one config value, so that its default applies.
 *
 * @throws StewardError `config_path_not_found`, `config_refused`, `config_invalid`, `config_missing`.
 */
export async function unsetConfig(context: CommandContext, path: string): Promise<void> {
  const keys = keysOf(path);
  await change(context, (root) => {
    let section: unknown = root;
    for (const key of keys.slice(0, -1)) {
      section = isSection(section) && Object.hasOwn(section, key) ? section[key] : undefined;
    }
    const last = keys.at(-1) ?? "";
    if (!isSection(section) || !Object.hasOwn(section, last)) throw notFound(path);
    delete section[last];
  });
}

/**
 * Changes the config file. Checks the new text before taking the file lock, to hold it only briefly. Starts over if
 * the file has changed during the check.
 */
async function change(
  { settings, environment }: CommandContext,
  work: (root: ConfigSection) => void,
): Promise<void> {
  const path = settings.configPath;
  const changedText = (): string => {
    const { value, result } = readConfigFile(path, environment);
    if (!isSection(value)) {
      throw new StewardError("config_invalid", formatConfigProblems(path, result.ok ? [] : result.problems));
    }
    work(value);
    return `${JSON.stringify(value, null, 2)}\n`;
  };
  for (let isWritten = false; !isWritten;) {
    const text = changedText();
    const { result } = await withScheduleChecks(readConfigText(text, environment));
    if (!result.ok) throw new StewardError("config_refused", formatConfigProblems(path, result.problems));
    isWritten = withConfigLock(path, () => {
      if (changedText() !== text) return false;
      writeFileAtomic(path, text);
      return true;
    });
  }
}

function child(section: unknown, key: string, path: string): unknown {
  if (!isSection(section) || NO_KEYS.has(key)) throw notFound(path);
  if (!Object.hasOwn(section, key)) section[key] = {};
  return section[key];
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Throws if the value contains a plain-text secret, recognised by its config path or its format. */
function refusePlainSecret({ redact }: CommandContext, keys: string[], value: unknown, path: string): void {
  const written = JSON.stringify(value);
  const byPlace = secretsOf(value, keys).some(({ secret }) => typeof secret === "string");
  if (!byPlace && redact(written) === written) return;
  throw new StewardError(
    "secret_in_plain",
    `${path} would contain a secret in plain text. Use --plain to write it anyway.`,
  );
}

function notFound(path: string): StewardError {
  return new StewardError("config_path_not_found", `Config path not found: ${path}`);
}
