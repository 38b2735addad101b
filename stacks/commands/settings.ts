import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { BuildFailure, failureOf } from "../../infra/shell/failure.ts";
import { commandsFor } from "../../infra/shell/package.ts";
import type { StackConfigSource } from "../config/source.ts";

/** Placeholder for an encrypted value. */
const HIDDEN = "hidden-in-the-settings-file";
/** Required setting. If the settings file lacks it, {@link HIDDEN} becomes its value. */
const REQUIRED = "steward:anthropicApiKey";

const projectFile = z.object({ stackConfigDir: z.string().default(".") });
const settingsFile = z.object({
  config: z.record(z.string(), z.unknown()).default({}),
  environment: z.unknown().optional(),
});

/**
 * Returns a stack's settings file: PULUMI_OPTION_CONFIG_FILE (the CLI's `--config-file`), otherwise the project's.
 *
 * @param folder Folder of `Pulumi.<stack>.yaml`.
 */
export function settingsFileOf(stack: string, folder: string): string {
  // The settings file's name contains only the last part of organization/project/stack.
  return (
    process.env["PULUMI_OPTION_CONFIG_FILE"] || path.join(folder, `Pulumi.${stack.split("/").at(-1)}.yaml`)
  );
}

export interface StoredSettings extends StackConfigSource {
  /** True if Pulumi adds values from ESC environments, which the file does not contain. */
  hasEnvironment: boolean;
}

/**
 * Reads a stack's settings file without a backend or passphrase.
 *
 * @param folder Folder of `Pulumi.<stack>.yaml`. Default: the folder that `Pulumi.yaml` specifies.
 */
export async function readSettings(
  folder: string | undefined,
  stack: string,
  workDir = ".",
): Promise<StoredSettings> {
  const file = settingsFileOf(stack, folder ?? (await settingsFolder(workDir)));
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new BuildFailure(
      "settings_missing",
      `${file} cannot be read: ${failureOf(error)}`,
      "Use a stack that has a settings file, or give the file's folder with --settings.",
    );
  });
  const { config, environment } = settingsFile.parse(parse(text) ?? {});
  const secret = new Set([REQUIRED, ...Object.keys(config).filter((key) => hasHidden(config[key]))]);
  const values = Object.entries({ [REQUIRED]: HIDDEN, ...config }).map(([key, value]) => [
    key,
    isHidden(value) ? hidden(key) : asText(value),
  ]);
  return {
    values: Object.fromEntries(values),
    isSecret: (key) => secret.has(key),
    environment: process.env,
    commands: commandsFor(stack, folder === undefined ? undefined : file),
    hasEnvironment: environment !== undefined,
  };
}

async function settingsFolder(workDir: string): Promise<string> {
  const text = await readFile(path.join(workDir, "Pulumi.yaml"), "utf8").catch(() => "");
  return path.join(workDir, projectFile.parse(parse(text) ?? {}).stackConfigDir);
}

/** Returns true for an encrypted value, or for a map or list that directly contains one. */
function hasHidden(value: unknown): boolean {
  return isHidden(value) || (typeof value === "object" && Object.values(Object(value)).some(isHidden));
}

function isHidden(value: unknown): boolean {
  return typeof value === "object" && value !== null && "secure" in value;
}

/**
 * Returns a placeholder for an encrypted value. For `steward:secrets`, returns an empty map as JSON, because even the
 * secrets' names are encrypted.
 */
function hidden(key: string): string {
  return key === "steward:secrets" ? "{}" : HIDDEN;
}

/** Formats a value as Pulumi passes it to a program: lists and objects as JSON. */
function asText(value: unknown): string {
  const replaced = (_key: string, member: unknown): unknown => (isHidden(member) ? HIDDEN : member);
  return typeof value === "object" ? JSON.stringify(value, replaced) : String(value);
}
