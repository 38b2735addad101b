import type { Stack } from "@pulumi/pulumi/automation/index.js";

/** A resource in a stack's state; secrets are decrypted. */
export interface DeployedResource {
  urn: string;
  type: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** A stack's state; empty before its first update. */
export interface DeployedState {
  resources: readonly DeployedResource[];
  /** Returns an output of the program that is a plain text; empty without one. */
  output(name: string): string;
}

const STACK = "pulumi:pulumi:Stack";

/** Reads the state of a stack. */
export async function readState(stack: Stack): Promise<DeployedState> {
  const { deployment } = await stack.exportStack();
  const resources = (deployment as { resources?: DeployedResource[] } | null)?.resources ?? [];
  const outputs = resources.find(({ type }) => type === STACK)?.outputs ?? {};
  return {
    resources,
    output(name) {
      const value = outputs[name];
      return typeof value === "string" ? value : "";
    },
  };
}

/** Returns the resource whose URN has this end: `<type>::<name>`, of the type its last part. */
export function findResource({ resources }: DeployedState, end: string): DeployedResource | undefined {
  return resources.find(({ urn }) => urn.endsWith(end));
}
