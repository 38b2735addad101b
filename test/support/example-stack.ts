import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { parse } from "yaml";

const STACKS = join(import.meta.dirname, "../../stacks");

export const EXAMPLES = ["dev", "prod", "host"] as const;

export function adapted(text: string): string {
  return text
    .replaceAll("0123456789abcdef0123456789abcdef", "00112233445566778899aabbccddeeff")
    .replaceAll("example.com", "acme.dev")
    .replaceAll("example.cloudflareaccess.com", "acme.cloudflareaccess.com")
    .replaceAll("steward:subdomain: example", "steward:subdomain: acme");
}

/**
 * Returns an example stack's settings as Pulumi passes them to a program.
 *
 * @param change Edits the settings file's text first.
 */
export async function exampleSettings(
  name: (typeof EXAMPLES)[number],
  change: (text: string) => string = adapted,
): Promise<Record<string, string>> {
  const text = change(await readFile(join(STACKS, `Pulumi.${name}.yaml`), "utf8"));
  const { config } = parse(text) as { config: Record<string, unknown> };
  const values = Object.entries(config).map(([key, value]) => {
    return [key, typeof value === "object" ? JSON.stringify(value) : String(value)] as const;
  });
  return Object.fromEntries(values);
}

export async function exampleConfig(name: (typeof EXAMPLES)[number]): Promise<ConfigMap> {
  const entries = Object.entries(await exampleSettings(name)).map(
    ([key, value]) => [key, { value }] as const,
  );
  return Object.fromEntries(entries);
}
