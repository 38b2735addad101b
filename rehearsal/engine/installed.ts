import { delimiter, join } from "node:path";
import { isOlder } from "./go.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { OLDEST_CLI } from "../../stacks/commands/deployed/cli.ts";
import { isExecutable } from "./plugins.ts";

export interface InstalledEngine {
  cli: string;
  version: string;
}

/** Returns the first `pulumi` on PATH that runs and is new enough. */
export async function installedEngine(env: NodeJS.ProcessEnv): Promise<InstalledEngine | undefined> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const cli = join(folder, "pulumi");
    if (folder === "" || !(await isExecutable(cli))) continue;
    const asked = await runProcess(cli, ["version"], {
      env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "1" },
      timeoutMs: 20_000,
    });
    const version = /^v?(\d+\.\d+\.\d+)/.exec(asked.stdout.trim())?.[1];
    if (asked.code === 0 && version !== undefined && !isOlder(version, OLDEST_CLI)) return { cli, version };
  }
  return undefined;
}
