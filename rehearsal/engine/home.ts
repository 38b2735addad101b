import { chmod, copyFile, lstat, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pluginVersion } from "../../stacks/commands/deployed/cli.ts";
import { type InstalledPlugins, linkTo, PROVIDERS, replaceWhole } from "./plugins.ts";

const LAUNCHERS = join(import.meta.dirname, "launchers");
const PROVIDER_FOLDER = join(import.meta.dirname, "../providers");

/** Launcher that is installed in place of an official provider. */
const PROVIDER_LAUNCHER = "pulumi-resource-steward-rehearsal";

/** Looked for beside the engine's executable, as one of the plugins that an official installation brings along. */
const DYNAMIC_LAUNCHER = "pulumi-resource-pulumi-nodejs";

/** What the launcher of dynamic resources has the process load first. */
const LOAD_LATER = "load-later.cjs";

/** Looked for among the installed plugins. On PATH it is found too, but with a warning in every preview. */
const POLICY_LAUNCHER = "pulumi-analyzer-policy-nodejs";
const POLICY_PLUGIN = "analyzer-policy-nodejs-v1.0.0";

/** Options of {@link prepareHome}. */
export interface HomeOptions {
  /** The folder that gets the home, and is the engine's own if it was built here. */
  folder: string;
  /** True if the engine was built from modules: an official one brings its launchers along. */
  own: boolean;
  /** Executables of the providers that are not the rehearsal's. */
  plugins: InstalledPlugins;
}

/**
 * Gives the engine a Pulumi home of the rehearsal's, so that a person's `~/.pulumi` with its logins stays untouched,
 * and puts there what it needs: launchers, and each provider, the rehearsal's own if no other one is given.
 *
 * @returns the variables that lead the engine to it
 */
export async function prepareHome({ folder, own, plugins }: HomeOptions): Promise<Record<string, string>> {
  const home = join(folder, "home");
  if (own) {
    // The launcher names it, so it is there first.
    await place(LOAD_LATER, join(folder, "bin", LOAD_LATER));
    await place(DYNAMIC_LAUNCHER, join(folder, "bin", DYNAMIC_LAUNCHER));
    await place(POLICY_LAUNCHER, join(home, "plugins", POLICY_PLUGIN, POLICY_LAUNCHER));
  }
  await keepNoLogs(home);

  for (const provider of PROVIDERS) {
    const executable = join(
      home,
      "plugins",
      `resource-${provider}-v${await pluginVersion(provider)}`,
      `pulumi-resource-${provider}`,
    );
    const given = plugins[provider];
    if (given !== undefined) await linkTo(executable, given);
    // The docker provider of an earlier run stays: there is none of the rehearsal's own.
    else if (provider !== "docker") await place(PROVIDER_LAUNCHER, executable);
  }

  return {
    PULUMI_HOME: home,
    // A missing plugin is then an error at once, where a download would hang on a machine without the network.
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    STEWARD_NODE: process.execPath,
    STEWARD_NODE_MODULES: nodeModules(),
    STEWARD_PROVIDERS: PROVIDER_FOLDER,
  };
}

/** Copies a launcher of this checkout to its place, unless it is there. */
async function place(launcher: string, to: string): Promise<void> {
  const from = join(LAUNCHERS, launcher);
  const [wanted, present] = await Promise.all([readFile(from), readFile(to).catch(() => undefined)]);
  if (present?.equals(wanted) && !(await lstat(to)).isSymbolicLink()) return;
  await replaceWhole(to, async (temporary) => {
    await copyFile(from, temporary);
    await chmod(temporary, 0o755);
  });
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
