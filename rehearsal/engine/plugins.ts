import { access, constants, mkdir, readdir, readlink, rename, symlink } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pluginVersion } from "../../stacks/commands/deployed/cli.ts";
import { isOlder } from "./go.ts";

export const PROVIDERS = ["cloudflare", "command", "docker"] as const;
type ProviderName = (typeof PROVIDERS)[number];

export type InstalledPlugins = Partial<Record<ProviderName, string>>;

/** https://www.pulumi.com/docs/iac/cli/environment-variables/ */
export function userPulumiHome(env: NodeJS.ProcessEnv): string {
  return env["PULUMI_HOME"] || join(env["HOME"] || homedir(), ".pulumi");
}

/** Returns the official plugins that fit this checkout's SDKs: same major version, and not older. */
export async function installedPlugins(home: string): Promise<InstalledPlugins> {
  const found: InstalledPlugins = {};
  const folder = join(home, "plugins");
  const names = await readdir(folder).catch((): string[] => []);
  for (const provider of PROVIDERS) {
    const wanted = await pluginVersion(provider);
    for (const name of names) {
      const version = new RegExp(`^resource-${provider}-v(\\d+\\.\\d+\\.\\d+)$`).exec(name)?.[1];
      // A `.partial` file exists while the engine unpacks the plugin.
      if (version === undefined || names.includes(`${name}.partial`)) continue;
      if (version.split(".")[0] !== wanted.split(".")[0] || isOlder(version, wanted)) continue;
      const executable = join(folder, name, `pulumi-resource-${provider}`);
      if (await isExecutable(executable)) found[provider] = executable;
    }
  }
  return found;
}

export async function linkTo(link: string, target: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === target) return;
  await replaceAtomically(link, (temporary) => symlink(target, temporary));
}

/** Replaces a file atomically, because another process may be executing it. */
export async function replaceAtomically(
  file: string,
  make: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}`;
  await mkdir(dirname(file), { recursive: true });
  await make(temporary);
  await rename(temporary, file);
}

export function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
