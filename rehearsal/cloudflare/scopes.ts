import { ApiError } from "./envelope.ts";

/** `edit` includes `read`. */
export type TokenScope = `${Area}:${"read" | "edit"}`;

type Area = "workers" | "r2" | "containers" | "access";

/**
 * Permission areas by the first path segment after the account:
 * https://developers.cloudflare.com/fundamentals/api/reference/permissions/
 */
const AREAS: Readonly<Record<string, Area>> = {
  workers: "workers",
  r2: "r2",
  containers: "containers",
  access: "access",
};

/**
 * Requires a scope that covers the request. Otherwise answers 403 (code 10000), or 401 for containers:
 * https://github.com/cloudflare/workers-sdk/issues/12483
 */
export function checkScope(scopes: readonly TokenScope[], method: string, path: string): void {
  const area = AREAS[/^\/client\/v4\/accounts\/[^/]+\/([^/]+)/.exec(path)?.[1] ?? ""];
  if (area === undefined || scopes.includes(`${area}:edit`)) return;
  if (method === "GET" && scopes.includes(`${area}:read`)) return;
  throw area === "containers"
    ? new ApiError(401, 1000, "Unauthorized")
    : new ApiError(403, 10000, "Authentication error");
}
