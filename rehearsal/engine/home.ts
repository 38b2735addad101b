import { chmod, copyFile, lstat, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pluginVersion } from "../../stacks/commands/deployed/cli.ts";
import { type InstalledPlugins, linkTo, PROVIDERS, replaceAtomically } from "./plugins.ts";

const LAUNCHERS = join(import.meta.dirname, "launchers");
const PROVIDER_FOLDER = join(import.meta.dirname, "../providers");

/** Launcher that is installed in place of an official provider. */
const PROVIDER_LAUNCHER = "pulumi-resource-steward-rehearsal";

/**
 * Launchers of dynamic resources and of the language host. The engine looks for them beside its own executable, where an
 * official installation has them.
 */
const BESIDE_ENGINE = ["pulumi-resource-pulumi-nodejs", "pulumi-language-nodejs"];

/** Modules that they load. */
const MODULES = ["load-later.cjs", "end-with-engine.cjs", "run-policies.cjs", "language-host.cjs"];

/** Options of {@link prepareHome}. */
export interface HomeOptions {
  /** The folder in which the home is created. It is also the engine's own folder if the engine was built here. */
  folder: string;
  /** True if the engine was built from modules: an official one includes its launchers. */
  own: boolean;
  /** Executables of the providers that are not the rehearsal's own. */
  plugins: InstalledPlugins;
}

/**
 * Prepares a Pulumi home for the rehearsal's engine, so that the user's `~/.pulumi` with its logins stays untouched.
 * Installs the launchers and each provider in it: the given one, otherwise the rehearsal's own.
 *
 * @returns the variables that make the engine use this home
 */
export async function prepareHome({ folder, own, plugins }: HomeOptions): Promise<Record<string, string>> {
  const home = join(folder, "home");
  if (own) {
    // A launcher's modules are copied before the launcher.
    for (const file of [...MODULES, ...BESIDE_ENGINE]) await place(file, join(folder, "bin", file));
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
    // A docker provider of an earlier run stays: the rehearsal has none of its own to install instead.
    else if (provider !== "docker") await place(PROVIDER_LAUNCHER, executable);
  }

  return {
    PULUMI_HOME: home,
    // A missing plugin is then an immediate error. A download would hang on a machine without a network.
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    STEWARD_NODE: process.execPath,
    STEWARD_NODE_MODULES: nodeModules(),
    STEWARD_PROVIDERS: PROVIDER_FOLDER,
  };
}

/** Copies a launcher of this checkout to its place, unless the same file is there already. */
async function place(launcher: string, to: string): Promise<void> {
  const from = join(LAUNCHERS, launcher);
  const [wanted, present] = await Promise.all([readFile(from), readFile(to).catch(() => undefined)]);
  if (present?.equals(wanted) && !(await lstat(to)).isSymbolicLink()) return;
  await replaceAtomically(to, async (temporary) => {
    await copyFile(from, temporary);
    await chmod(temporary, 0o755);
  });
}

/**
 * Keeps the CLI from writing logs. It logs every run in all detail, with the Worker's code a dozen times, which takes a
 * fifth of a preview's time and up to 500 MB. No option turns that off, but the CLI does without logs if it cannot
 * create their folder (pulumi pkg/logging).
 */
async function keepNoLogs(home: string): Promise<void> {
  const place = join(home, "logs");
  if ((await stat(place).catch(() => undefined))?.isFile()) return;
  await mkdir(home, { recursive: true });
  // This can fail while another run is writing logs. The next run tries again.
  await rm(place, { recursive: true, force: true })
    .then(() => writeFile(place, "In the place of a folder, so that the Pulumi CLI keeps no logs.\n"))
    .catch(() => undefined);
}

/** Returns the node_modules folder from which this checkout's packages come. */
function nodeModules(): string {
  const manifest = createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json");
  return dirname(dirname(dirname(manifest)));
}
