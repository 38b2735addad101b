import { chmod, copyFile, lstat, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pluginVersion } from "../../stacks/commands/deployed/cli.ts";
import { type InstalledPlugins, linkTo, PROVIDERS, replaceAtomically } from "./plugins.ts";

const LAUNCHERS = join(import.meta.dirname, "launchers");
const PROVIDER_FOLDER = join(import.meta.dirname, "../providers");

const PROVIDER_LAUNCHER = "pulumi-resource-steward-rehearsal";

/** Launchers in the engine's folder, for dynamic resources and the language host. */
const BESIDE_ENGINE = ["pulumi-resource-pulumi-nodejs", "pulumi-language-nodejs"];

const MODULES = ["load-later.cjs", "end-with-engine.cjs", "run-policies.cjs", "language-host.cjs"];

export interface HomeOptions {
  /** Folder that contains the Pulumi home and, if `own` is true, the engine. */
  folder: string;
  /** True if the engine was built from Go modules. Such an engine's folder contains launchers for Node.js plugins. */
  own: boolean;
  /** Provider executables to use instead of the rehearsal's own. */
  plugins: InstalledPlugins;
}

/**
 * Prepares a separate Pulumi home with launchers and providers, because the user's `~/.pulumi` contains logins.
 *
 * @returns environment variables that select this home
 */
export async function prepareHome({ folder, own, plugins }: HomeOptions): Promise<Record<string, string>> {
  const home = join(folder, "home");
  if (own) {
    // Install the modules first, because the launchers load them.
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
    // Keep an earlier link to a docker provider, because the rehearsal has no substitute for it.
    else if (provider !== "docker") await place(PROVIDER_LAUNCHER, executable);
  }

  return {
    PULUMI_HOME: home,
    // Without a network, a download would hang.
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    STEWARD_NODE: process.execPath,
    STEWARD_NODE_MODULES: nodeModules(),
    STEWARD_PROVIDERS: PROVIDER_FOLDER,
  };
}

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
 * Prevents the CLI from writing logs, which take a fifth of a preview's time and up to 500 MB. The CLI skips logs if
 * it cannot create their folder (pulumi pkg/logging).
 */
async function keepNoLogs(home: string): Promise<void> {
  const place = join(home, "logs");
  if ((await stat(place).catch(() => undefined))?.isFile()) return;
  await mkdir(home, { recursive: true });
  // Removing the folder fails while another run writes logs to it. The next run tries again.
  await rm(place, { recursive: true, force: true })
    .then(() => writeFile(place, "In the place of a folder, so that the Pulumi CLI keeps no logs.\n"))
    .catch(() => undefined);
}

function nodeModules(): string {
  const manifest = createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json");
  return dirname(dirname(dirname(manifest)));
}
