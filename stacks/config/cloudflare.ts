import type { CloudflareAccess } from "../../infra/serverless/account-api.ts";
import type { ConfigSource } from "./source.ts";

/** The token and the address that the `cloudflare` provider takes, from where it takes them. */
export function cloudflareAccess({ values, environment }: ConfigSource): CloudflareAccess {
  return {
    // A configuration without one is refused before anything asks.
    apiToken: values["cloudflare:apiToken"] ?? environment["CLOUDFLARE_API_TOKEN"] ?? "",
    baseURL: values["cloudflare:baseUrl"] ?? environment["CLOUDFLARE_BASE_URL"],
  };
}
