import type { ConfigSource } from "./source.ts";

/** How Cloudflare is asked. */
export interface CloudflareAccess {
  apiToken: string;
  /** `undefined`: Cloudflare's own address. */
  baseURL: string | undefined;
}

/** The token and the address that the `cloudflare` provider takes, from where it takes them. */
export function cloudflareAccess({ values, environment }: ConfigSource): CloudflareAccess {
  return {
    // A configuration without one is refused before anything asks.
    apiToken: values["cloudflare:apiToken"] ?? environment["CLOUDFLARE_API_TOKEN"] ?? "",
    baseURL: values["cloudflare:baseUrl"] ?? environment["CLOUDFLARE_BASE_URL"],
  };
}
