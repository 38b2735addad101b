import { chmod, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type InstalledPlugins, linkPlugin, PROVIDERS, sdkVersion, unlinkPlugin } from "./plugins.ts";

const LAUNCHERS = join(import.meta.dirname, "launchers");

/** Looked for beside the engine's executable, as one of the plugins that an official installation brings along. */
const DYNAMIC_LAUNCHER = "pulumi-resource-pulumi-nodejs";

/** What the launcher of dynamic resources has the process load first. */
const LOAD_LATER = "load-later.cjs";

/** Looked for among the installed plugins. On PATH it is found too, but with a warning in every preview. */
const POLICY_LAUNCHER = "pulumi-analyzer-policy-nodejs";
const POLICY_PLUGIN = "analyzer-policy-nodejs-v1.0.0";

/**
 * Gives the project's own engine a home of its own, so that a person's `~/.pulumi` with its logins stays untouched,
 * and puts there what the engine needs: the two launchers, the official plugins of this machine, the docker provider.
 *
 * @returns the variables that lead the engine to it
 */
export async function prepareHome(
  engineFolder: string,
  official: InstalledPlugins,
  dockerPlugin: string | undefined,
): Promise<Record<string, string>> {
  const home = join(engineFolder, "home");
  // The launcher names it, so it is there first.
  await place(LOAD_LATER, join(engineFolder, "bin"));
  await place(DYNAMIC_LAUNCHER, join(engineFolder, "bin"));
  await place(POLICY_LAUNCHER, join(home, "plugins", POLICY_PLUGIN));
  await keepNoLogs(home);

  const wanted: InstalledPlugins = {
    ...official,
    ...(dockerPlugin === undefined ? {} : { docker: dockerPlugin }),
  };
  for (const provider of PROVIDERS) {
    const plugin = `resource-${provider}-v${await sdkVersion(provider)}`;
    const executable = wanted[provider];
    if (executable !== undefined) await linkPlugin(home, plugin, executable);
    // The docker provider of an earlier run stays: another program may be using it, and nothing is attached for it.
    else if (provider !== "docker") await unlinkPlugin(home, plugin);
  }

  return {
    PULUMI_HOME: home,
    // A missing plugin is then an error at once, where a download would hang on a machine without the network.
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    STEWARD_NODE: process.execPath,
    STEWARD_NODE_MODULES: nodeModules(),
  };
}

/** Copies a launcher of this checkout beside the engine, whole at every moment: another process may be starting it. */
async function place(launcher: string, folder: string): Promise<void> {
  const from = join(LAUNCHERS, launcher);
  const to = join(folder, launcher);
  const [wanted, present] = await Promise.all([readFile(from), readFile(to).catch(() => undefined)]);
  if (present?.equals(wanted)) return;
  const temporary = `${to}.${randomUUID()}`;
  await mkdir(folder, { recursive: true });
  await copyFile(from, temporary);
  await chmod(temporary, 0o755);
  await rename(temporary, to);
}

/**
 * The CLI logs every run in all detail, with the Worker's code a dozen times: a fifth of a preview's time, and up to
 * 500 MB. No option turns that off, but it does without where it cannot make the folder (pulumi pkg/logging).
 */
async function keepNoLogs(home: string): Promise<void> {
  const place = join(home, "logs");
  if ((await stat(place).catch(() => undefined))?.isFile()) return;
  // A run that is logging right now may be in the way; then the next one finds it free.
  await rm(place, { recursive: true, force: true })
    .then(() => writeFile(place, "In the place of a folder, so that the Pulumi CLI keeps no logs.\n"))
    .catch(() => undefined);
}

/** The node_modules folder that this checkout's packages come from. */
function nodeModules(): string {
  const manifest = createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json");
  return dirname(dirname(dirname(manifest)));
}
