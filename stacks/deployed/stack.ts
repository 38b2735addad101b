import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { engineCommand, ensureEngine } from "../../infra/rehearsal/engine/index.ts";
import { attachProviders, type ProviderName } from "../../infra/rehearsal/providers/attach.ts";
import { programWith } from "../index.ts";
import type { OpenStack } from "../rehearsal/stack.ts";

/** What a command asks the engine for. */
export interface DeployedOptions {
  /** The providers that its program uses; a command that reads the configuration alone needs none. */
  providers: readonly ProviderName[];
  /** Whether it uses the docker provider, which is built where it is missing. */
  docker: boolean;
  /** Values that the program takes as if they were stored, by their whole keys. */
  changes?: Readonly<Record<string, string>>;
  log: (line: string) => void;
}

/** What the program of either target uses. */
export const WHATEVER_TARGET = { providers: ["cloudflare", "command"], docker: true } as const;

/** A stack of the backend that pulumi is logged in to, of the project in the working folder. */
export async function openDeployed(stackName: string, options: DeployedOptions): Promise<OpenStack> {
  const { providers, docker, log, changes = {} } = options;
  const engine = await ensureEngine({ docker, log });
  const needed = providers.filter((provider) => !engine.official[provider]);
  const attached = needed.length > 0 ? await attachProviders({ needed, log }) : undefined;
  const close = async (): Promise<void> => attached?.close();
  try {
    const stack = await LocalWorkspace.selectStack(
      { stackName, projectName: "steward", program: programWith(changes) },
      {
        workDir: process.cwd(),
        pulumiCommand: await engineCommand(engine),
        envVars: { ...engine.env, ...attached?.env },
      },
    );
    return { stack, close };
  } catch (error) {
    await close();
    throw error;
  }
}
