import type { Stack } from "@pulumi/pulumi/automation/index.js";

/** What a stack's state knows of one resource; secrets are decrypted. */
export interface Known {
  urn: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** All resources of a stack's state; none before its first update. */
export async function resourcesOf(stack: Stack): Promise<Known[]> {
  const { deployment } = await stack.exportStack();
  return (deployment as { resources?: Known[] }).resources ?? [];
}

/** The resource whose URN ends so: `<type>::<name>`, of the type its last part. */
export function findResource(resources: readonly Known[], end: string): Known | undefined {
  return resources.find(({ urn }) => urn.endsWith(end));
}
