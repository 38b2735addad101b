import { access, constants, mkdir, readdir, readFile, readlink, rename, rm, symlink } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { older } from "../../build/go.ts";

/** The providers that the stacks use. */
export const PROVIDERS = ["cloudflare", "command", "docker"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The executables of the official provider plugins that are installed, by provider. */
export type InstalledPlugins = Partial<Record<ProviderName, string>>;

/** The folder in which the official CLI keeps its plugins (https://www.pulumi.com/docs/iac/cli/environment-variables/). */
export function userPulumiHome(env: NodeJS.ProcessEnv): string {
  return env["PULUMI_HOME"] || join(env["HOME"] || homedir(), ".pulumi");
}

/** Which official plugins in a Pulumi home satisfy the SDKs of this checkout: same major version, not older. */
export async function installedPlugins(home: string): Promise<InstalledPlugins> {
  const found: InstalledPlugins = {};
  const folder = join(home, "plugins");
  const names = await readdir(folder).catch((): string[] => []);
  for (const provider of PROVIDERS) {
    const wanted = await sdkVersion(provider);
    for (const name of names) {
      const version = new RegExp(`^resource-${provider}-v(\\d+\\.\\d+\\.\\d+)$`).exec(name)?.[1];
      // The engine marks a plugin that is still being unpacked by a file of this name.
      if (version === undefined || names.includes(`${name}.partial`)) continue;
      if (version.split(".")[0] !== wanted.split(".")[0] || older(version, wanted)) continue;
      const executable = join(folder, name, `pulumi-resource-${provider}`);
      if (await isExecutable(executable)) found[provider] = executable;
    }
  }
  return found;
}

/** The version of the plugin that an installed `@pulumi/<provider>` package asks the engine for. */
export async function sdkVersion(provider: ProviderName): Promise<string> {
  const entry = createRequire(import.meta.url).resolve(`@pulumi/${provider}/package.json`);
  const { version } = JSON.parse(await readFile(entry, "utf8")) as { version: string };
  return version.replace(/^v/, "");
}

/**
 * Makes an executable known to the engine of the given home as an installed plugin. By this way, unlike PATH, the
 * engine takes it without a warning in every preview.
 *
 * @param plugin the plugin's folder name, `<kind>-<name>-v<version>`
 */
export async function linkPlugin(home: string, plugin: string, executable: string): Promise<void> {
  const link = join(home, "plugins", plugin, basename(executable));
  if ((await readlink(link).catch(() => undefined)) === executable) return;
  await mkdir(dirname(link), { recursive: true });
  const temporary = `${link}.${randomUUID()}`;
  await symlink(executable, temporary);
  await rename(temporary, link);
}

/** Takes back what {@link linkPlugin} did. */
export async function unlinkPlugin(home: string, plugin: string): Promise<void> {
  await rm(join(home, "plugins", plugin), { recursive: true, force: true });
}

export function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
