import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { LocalWorkspace, type ConfigMap, type Stack } from "@pulumi/pulumi/automation/index.js";
import { engineCommand, fileBackend, type Engine } from "../../infra/rehearsal/engine/index.ts";
import { mark } from "../../infra/rehearsal/leftovers.ts";
import { attachProviders, type ProviderName } from "../../infra/rehearsal/providers/attach.ts";
import program from "../index.ts";

const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** A stack of this project under the real engine, with its state in files. */
export interface OpenStack {
  stack: Stack;
  close(): Promise<void>;
}

/** What {@link openStack} works with. */
export interface OpenStackOptions {
  engine: Engine;
  name: string;
  /** Where the state is kept. */
  dir: string;
  passphrase: string;
  /** Providers that the program uses; those without an official plugin are attached. */
  providers: readonly ProviderName[];
  config: ConfigMap;
  /** Secrets that are somebody's own: handed over on standard input, since arguments are open to every user. */
  privateConfig: Readonly<Record<string, string>>;
  log: (line: string) => void;
}

/** Opens or creates the stack and gives it this configuration. */
export async function openStack(options: OpenStackOptions): Promise<OpenStack> {
  const { engine, name, dir, passphrase, config, log } = options;
  const workDir = path.join(dir, "workspace");
  const state = path.join(dir, "state");
  await Promise.all([workDir, state].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  await linkPackages(workDir);
  // Whoever opens the stack has the rehearsal to itself: a lock in its state is that of a killed run.
  await rm(path.join(state, ".pulumi", "locks"), { recursive: true, force: true });
  const needed = options.providers.filter((provider) => !engine.official[provider]);
  const attached = needed.length > 0 ? await attachProviders({ needed, log }) : undefined;
  const close = async (): Promise<void> => attached?.close();
  try {
    const stack = await LocalWorkspace.createOrSelectStack(
      { stackName: name, projectName: "steward", program },
      {
        workDir,
        pulumiCommand: await engineCommand(engine),
        envVars: { ...engine.env, ...attached?.env, ...mark(dir), PULUMI_CONFIG_PASSPHRASE: passphrase },
        projectSettings: {
          name: "steward",
          runtime: "nodejs",
          backend: { url: fileBackend(state) },
        },
      },
    );
    await stack.setAllConfig(config);
    for (const [key, value] of Object.entries(options.privateConfig)) {
      setSecret(engine, { key, value, name, workDir, environment: stack.workspace.envVars });
    }
    return { stack, close };
  } catch (error) {
    await close();
    throw error;
  }
}

// The engine runs a dynamic provider's methods in the working folder, and they import packages.
async function linkPackages(workDir: string): Promise<void> {
  const link = path.join(workDir, "node_modules");
  if (!existsSync(link)) await symlink(PACKAGES, link, "dir");
}

interface SecretSetting {
  key: string;
  value: string;
  name: string;
  workDir: string;
  environment: Record<string, string>;
}

function setSecret(engine: Engine, { key, value, name, workDir, environment }: SecretSetting): void {
  const args = ["config", "set", "--secret", "--stack", name, "--non-interactive", key];
  const env = { ...process.env, ...environment };
  const { status, stderr } = spawnSync(engine.cli, args, {
    cwd: workDir,
    env,
    input: value,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`pulumi config set ${key} failed: ${stderr.trim()}`);
}
