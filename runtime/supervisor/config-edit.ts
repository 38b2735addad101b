import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { describeProblems } from "../contract/config/help.ts";
import { jsonProblem, lineFinder } from "../contract/config/json-text.ts";
import { mendConfigValue, moveSecrets } from "../contract/config/mend.ts";
import { renderConfig } from "../contract/config/render.ts";
import { readConfigText, secretValuesIn } from "../contract/config/text.ts";
import {
  CONFIG_LIMIT_BYTES,
  type ConfigRefusal,
  type ConfigText,
  type ConfigTextKind,
  type ToldProblem,
} from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { createRedactor } from "../shared/redact.ts";
import { saveConfigCopy, withScheduleChecks, withConfigLock } from "../process/config-file.ts";
import { writeFileAtomic } from "../process/files.ts";
import { withoutSecrets } from "./config-secrets.ts";

const NO_FILE = "none";
const LIMIT = `A config file is at most ${CONFIG_LIMIT_BYTES / 1024} KiB long.`;
const IN_PLAIN = 'A secret in plain text: write {"env": "NAME"}, or use `steward config set --plain`';

export interface ReplaceOptions {
  /** sha256 of the file to be replaced; `none` if there is no file. */
  expected: string;
  /** If true, the text is written even if it is invalid. */
  unchecked: boolean;
  /** True to allow secrets in plain text, for example in a restored config. */
  plain?: boolean;
  /** If false, the text is only checked. */
  write: boolean;
}

/** Reads and changes the config file, even if the gateway cannot start. */
export interface ConfigEditor {
  read(kind: ConfigTextKind): Promise<ConfigText>;
  /** Returns the given text with its secrets masked. `sha256` is the hash of the current config file. */
  show(text: string): ConfigText;
  /** Rejects with StewardError `config_changed`, `body_too_large`, `body_invalid`. */
  replace(text: string, options: ReplaceOptions): Promise<ConfigText | ConfigRefusal>;
  /**
   * Removes the config file; the gateway's next start creates a new one. Throws `config_changed` if the current
   * file's digest is not `expected`.
   */
  remove(expected: string): void;
}

export interface ConfigEditorOptions {
  path: string;
  environment: Environment;
  /** Milliseconds since the epoch. */
  clock(): number;
}

export function configEditor({ path, environment, clock }: ConfigEditorOptions): ConfigEditor {
  /**
   * Takes the lock, checks that the file's digest is still `expected`, saves a copy of the file, then runs `work`.
   */
  const change = (expected: string, work: () => void): void => {
    withConfigLock(path, () => {
      const before = readText(path);
      if (digest(before) !== expected) throw new StewardError("config_changed");
      if (before !== null) saveConfigCopy(path, before, clock());
      work();
    });
  };
  const show = (shown: string | null): ConfigText => {
    const text = readText(path);
    const sha256 = text === null ? null : digest(text);
    return shown === null ? { text: null, sha256 } : { ...told(shown, environment), sha256 };
  };

  return {
    show,
    read: async (kind) => {
      if (kind === "fresh") return show(renderConfig(environment));
      const text = readText(path);
      if (kind === "file" || text === null) return show(text);
      const mended = mend(text, environment);
      return { ...show(mended), problems: await problemsOf(mended, environment) };
    },
    replace: async (text, { expected, unchecked, plain = false, write }) => {
      if (Buffer.byteLength(text) > CONFIG_LIMIT_BYTES) throw new StewardError("body_too_large", LIMIT);
      // The control API replaces an oversized body with an empty one.
      if (text === "") throw new StewardError("body_invalid", `The config file's text is empty. ${LIMIT}`);
      const former = readText(path);
      if (digest(former) !== expected) throw new StewardError("config_changed");
      const sent = told(text, environment);
      if (!unchecked) {
        const problems = [
          ...(await problemsOf(text, environment)),
          ...(plain ? [] : secretProblems(sent, text)),
        ];
        if (problems.length > 0) return { problems, text: sent.text };
      }
      if (write && text !== former) change(expected, () => writeFileAtomic(path, text));
      return { ...sent, sha256: digest(text) };
    },
    remove: (expected) => change(expected, () => rmSync(path, { force: true })),
  };
}

function told(text: string, environment: Environment): { text: string; secrets?: string[] } {
  const shown = withoutSecrets(text, environment);
  return shown.secrets.length === 0 ? { text } : shown;
}

/** Returns `null` if there is no file. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function digest(text: string | null): string {
  return text === null ? NO_FILE : createHash("sha256").update(text).digest("hex");
}

function mend(text: string, environment: Environment): string {
  if (jsonProblem(text) !== undefined) return text;
  const { value, changes } = mendConfigValue(JSON.parse(text));
  const moved = moveSecrets(value, environment);
  return changes.length + moved.length === 0 ? text : `${JSON.stringify(value, null, 2)}\n`;
}

async function problemsOf(text: string, environment: Environment): Promise<ToldProblem[]> {
  const { result } = await withScheduleChecks(readConfigText(text, environment));
  if (result.ok) return [];
  return describeProblems(
    result.problems,
    text,
    createRedactor(environment, secretValuesIn(text, environment)),
  );
}

/** Reports plain-text secrets, which must not be entered on a page. */
function secretProblems({ secrets = [] }: { secrets?: string[] }, text: string): ToldProblem[] {
  const lineAt = lineFinder(text);
  return secrets.map((path) => {
    const line = lineAt(path);
    return { path, message: IN_PLAIN, ...(line !== undefined && { line }) };
  });
}
