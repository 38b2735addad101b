import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname } from "node:path";
import type { PulumiCommand } from "@pulumi/pulumi/automation/index.js";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { runProcess, tail } from "../../../infra/shell/process.ts";

/** Oldest Pulumi CLI that this project is tested with. */
export const OLDEST_CLI = "3.250.0";
/** Timeout per CLI call. */
export const ANSWER_MS = 60_000;

/**
 * Returns additional variables for the CLI. PATH begins with the running Node's folder, so that no older Node runs
 * the Pulumi program.
 */
export function cliEnvironment(): Record<string, string> {
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  return { PATH: path, PULUMI_SKIP_UPDATE_CHECK: "1" };
}

/**
 * Returns the Pulumi CLI on PATH for the Automation API.
 *
 * @throws BuildFailure `pulumi_missing`, `pulumi_outdated`
 */
export async function requireCommand(env: NodeJS.ProcessEnv): Promise<PulumiCommand> {
  const { PulumiCommand: Cli } = await import("@pulumi/pulumi/automation/index.js");
  const found = await Cli.get().catch(() => undefined);
  if (found?.version && !isOutdated(found.version.version)) return found;
  await requireCli(env);
  return Cli.get();
}

/**
 * Checks that a recent enough Pulumi CLI is on PATH.
 *
 * @throws BuildFailure `pulumi_missing`, `pulumi_outdated`
 */
export async function requireCli(env: NodeJS.ProcessEnv): Promise<void> {
  const install = "Install the Pulumi CLI (https://www.pulumi.com/docs/install/) and put it on PATH.";
  const asked = await runProcess("pulumi", ["version"], { env, timeoutMs: ANSWER_MS });
  if (asked.missing) throw new BuildFailure("pulumi_missing", "there is no `pulumi` on PATH", install);
  const version = /^v?(\d+\.\d+\.\d+)/.exec(asked.stdout.trim())?.[1];
  if (asked.code !== 0 || version === undefined) {
    throw new BuildFailure(
      "pulumi_missing",
      `the \`pulumi\` on PATH does not run:\n${tail(asked, 3)}`,
      install,
    );
  }
  if (isOutdated(version)) {
    const found = `the \`pulumi\` on PATH is ${version}, but this project needs ${OLDEST_CLI} or newer`;
    throw new BuildFailure("pulumi_outdated", found, install);
  }
}

function isOutdated(version: string): boolean {
  return version.localeCompare(OLDEST_CLI, undefined, { numeric: true }) < 0;
}

/**
 * Checks that the CLI is logged in and its backend responds.
 *
 * @throws BuildFailure `pulumi_not_logged_in`
 */
export async function requireLogin(env: NodeJS.ProcessEnv): Promise<void> {
  const asked = await runProcess("pulumi", ["whoami", "--non-interactive"], { env, timeoutMs: ANSWER_MS });
  if (asked.code === 0) return;
  throw new BuildFailure(
    "pulumi_not_logged_in",
    `the Pulumi CLI cannot use its backend: ${tail(asked, 1).replace(/^error: /, "")}`,
    ({ cli }) => `Run \`${cli("login")}\`, or set PULUMI_ACCESS_TOKEN or PULUMI_BACKEND_URL.`,
  );
}

/** Returns the plugin version that the installed package requires. */
export async function pluginVersion(name: "cloudflare" | "command" | "docker"): Promise<string> {
  const manifest = createRequire(import.meta.url).resolve(`@pulumi/${name}/package.json`);
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  return version.replace(/^v/, "");
}
