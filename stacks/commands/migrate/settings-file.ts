import { chmod, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { settingsFileOf } from "../settings.ts";
import { isSeq, parseDocument } from "yaml";
import type { Migration } from "../../../infra/serverless/migration-list.ts";

/** A stack's settings, `Pulumi.<stack>.yaml`. */
export interface SettingsFile {
  file: string;
  text: string;
}

/** Reads the settings of a stack from where the project keeps them. */
export async function readSettingsFile({ name, workspace }: Stack): Promise<SettingsFile> {
  const { stackConfigDir = "." } = (await workspace.projectSettings()) as { stackConfigDir?: string };
  const file = settingsFileOf(name, path.join(workspace.workDir, stackConfigDir));
  return { file, text: await readFile(file, "utf8") };
}

/** The settings with the Worker's new name and a further migration; comments and everything else stay. */
export function withMigration(
  text: string,
  workerName: string,
  migrations: readonly Migration[],
  next: Migration,
): string {
  const settings = parseDocument(text);
  settings.setIn(["config", "steward:workerName"], workerName);
  const key = ["config", "steward:migrations"];
  // `pulumi config set` stores a list as a text, and a stack without the key has the default one.
  if (isSeq(settings.getIn(key))) settings.addIn(key, settings.createNode(next));
  else settings.setIn(key, settings.createNode([...migrations, next]));
  return settings.toString({ lineWidth: 0 });
}

/** Replaces the settings, unless somebody has edited them meanwhile. */
export async function replaceSettings({ file, text: former }: SettingsFile, text: string): Promise<void> {
  if ((await readFile(file, "utf8")) !== former) {
    throw new Error(`${file} was edited meanwhile. Fix: look at the change, and run the command again`);
  }
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { flush: true });
  await chmod(temporary, (await stat(file)).mode);
  await rename(temporary, file);
}
