import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { tellProblem } from "../contract/config/help.ts";
import { mendConfig } from "../contract/config/mend.ts";
import { renderConfig } from "../contract/config/render.ts";
import { schemaKeys } from "../contract/config/schema-at.ts";
import { readConfigText, secretValuesIn } from "../contract/config/text.ts";
import {
  CONFIG_LIMIT_BYTES,
  type ConfigRefusal,
  type ConfigText,
  type ConfigTextKind,
} from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { createRedactor } from "../shared/redact.ts";
import { keepCopy, wholeReading, withConfigLock } from "../process/config-file.ts";
import { writeFileAtomic } from "../process/files.ts";
import { markSecrets, marksIn, unmarkSecrets, type MarkedText } from "./config-marks.ts";

const NO_FILE = "none";
const LIMIT = `A config file is at most ${CONFIG_LIMIT_BYTES / 1024} KiB long.`;

/** Options of turning a text into the config file. */
export interface ReplaceOptions {
  /** sha256 of the file that it replaces, or `none`. */
  expected: string;
  /** It is written although it may not be valid. */
  unchecked: boolean;
  /** Secrets may be in it: it is the deployment's own file, and nobody's text of a page. */
  plain?: boolean;
  /** False: it is checked and not written. */
  write: boolean;
}

/** The config file for changing it, with the gateway up, down or not able to start. */
export interface ConfigEditor {
  read(kind: ConfigTextKind): ConfigText;
  /** A text from elsewhere, its secrets marked as those of the file. */
  show(text: string): ConfigText;
  /** Rejects with StewardError `config_changed`, `body_too_large`, `body_invalid`. */
  replace(text: string, options: ReplaceOptions): Promise<ConfigText | ConfigRefusal>;
  /** Removes the file, so that the gateway's next start writes it; throws `config_changed`. */
  remove(expected: string): void;
}

/** Dependencies of an editor. */
export interface ConfigEditorOptions {
  path: string;
  /** The gateway's environment. */
  environment: Environment;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Makes the editor of a config file. */
export function configEditor({ path, environment, clock }: ConfigEditorOptions): ConfigEditor {
  const mark = (text: string, before?: MarkedText): MarkedText =>
    markSecrets(text, {
      environment,
      values: secretValuesIn(text, environment),
      ...(before && { marked: before.secrets }),
    });
  const markFile = (text: string): MarkedText =>
    isJson(text) ? mark(text) : markSecrets(text, { environment, values: [], keys: schemaKeys() });

  /** Under the lock: the last moment at which the file may be another. */
  const change = (expected: string, work: () => void): void => {
    withConfigLock(path, () => {
      const before = readText(path);
      if (digest(before) !== expected) throw new StewardError("config_changed");
      if (before !== null) keepCopy(path, before, clock());
      work();
    });
  };

  return {
    show: (given) => {
      const text = readText(path);
      const file = text === null ? undefined : markFile(text);
      return { text: mark(given, file).text, sha256: text === null ? null : digest(text) };
    },
    read: (kind) => {
      const text = readText(path);
      const file = text === null ? undefined : markFile(text);
      const sha256 = text === null ? null : digest(text);
      if (kind === "fresh") return { text: mark(renderConfig(environment), file).text, sha256 };
      const shown = file?.text ?? null;
      return { text: kind === "mended" && shown !== null ? mend(shown) : shown, sha256 };
    },
    replace: async (given, { expected, unchecked, plain = false, write }) => {
      if (Buffer.byteLength(given) > CONFIG_LIMIT_BYTES) throw new StewardError("body_too_large", LIMIT);
      // The control API's server leaves out a body that is too long.
      if (given === "") throw new StewardError("body_invalid", `The config file's text is empty. ${LIMIT}`);
      const former = readText(path);
      if (digest(former) !== expected) throw new StewardError("config_changed");
      const before = markFile(former ?? "{}");
      const text = unmarkSecrets(given, before.secrets);
      // What was sent and not what is written: a mark in a wrong place must not turn into its secret.
      const sent = mark(given, before);
      if (!unchecked) {
        const problems = [
          ...(await problemsOf(text, environment)),
          ...(plain ? [] : markProblems(sent, before)),
          // Brackets that are not closed make more secret than is; there a mark may come to stand anywhere.
          ...(!plain && isJson(former ?? "") ? exposures(given, before, mark(text, before)) : []),
        ];
        if (problems.length > 0) return { problems, text: sent.text };
      }
      if (write && text !== former) change(expected, () => writeFileAtomic(path, text));
      return { text: sent.text, sha256: digest(text) };
    },
    remove: (expected) => change(expected, () => rmSync(path, { force: true })),
  };
}

/** `null` where there is no file. */
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Marks are texts like any other to the schema, so what is shown can be mended as it is. */
function mend(shown: string): string {
  if (!isJson(shown)) return shown;
  const { value, changes } = mendConfig(JSON.parse(shown));
  return changes.length === 0 ? shown : `${JSON.stringify(value, null, 2)}\n`;
}

async function problemsOf(text: string, environment: Environment): Promise<ConfigRefusal["problems"]> {
  const { result } = await wholeReading(readConfigText(text, environment));
  if (result.ok) return [];
  const redact = createRedactor(environment, secretValuesIn(text, environment));
  return result.problems.map((one) => tellProblem(one, redact));
}

/** Marks that stand for nothing, and secrets that have none: those would be shown on the way. */
function markProblems(sent: MarkedText, before: MarkedText): ConfigRefusal["problems"] {
  const plain = [...sent.places]
    .filter(([number]) => !before.secrets.has(number))
    .map(([, path]) => ({
      path,
      message: 'A secret in plain text: write {"env": "NAME"}, or use `steward config set --plain`',
    }));
  const unknown = marksIn(sent.text)
    .filter((number) => !before.secrets.has(number) && !sent.secrets.has(number))
    .map((number) => ({ path: "", message: `"[kept secret ${number}]" stands for no secret of the file` }));
  return [...plain, ...unknown];
}

/** Marks that stand where a secret would be shown the next time. */
function exposures(given: string, before: MarkedText, after: MarkedText): ConfigRefusal["problems"] {
  return [...new Set(marksIn(given))]
    .filter((number) => before.secrets.has(number) && !after.secrets.has(number))
    .map((number) => ({ path: "", message: `"[kept secret ${number}]" stands where it would be shown` }));
}
