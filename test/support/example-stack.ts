import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { parse } from "yaml";

const STACKS = join(import.meta.dirname, "../../stacks");

/** The example stacks of `stacks/`. */
export const EXAMPLES = ["dev", "prod", "host"] as const;

/** The settings of an example stack, which has no secrets, as Pulumi hands them to a program: lists as JSON. */
export async function exampleSettings(name: (typeof EXAMPLES)[number]): Promise<Record<string, string>> {
  const text = await readFile(join(STACKS, `Pulumi.${name}.yaml`), "utf8");
  const { config } = parse(text) as { config: Record<string, unknown> };
  const values = Object.entries(config).map(([key, value]) => {
    return [key, typeof value === "object" ? JSON.stringify(value) : String(value)] as const;
  });
  return Object.fromEntries(values);
}

/** The same for a stack under the engine. */
export async function exampleConfig(name: (typeof EXAMPLES)[number]): Promise<ConfigMap> {
  const entries = Object.entries(await exampleSettings(name)).map(
    ([key, value]) => [key, { value }] as const,
  );
  return Object.fromEntries(entries);
}
