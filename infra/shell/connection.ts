import { AsyncLocalStorage } from "node:async_hooks";
import type { ServiceName } from "../../runtime/contract/services.ts";
import { print } from "../../runtime/shared/terminal.ts";

/** Addresses of the platforms. Default: the platforms' own. */
export type Endpoints = { [Service in ServiceName]?: string | undefined };

/**
 * Access to whatever a resource manages. It is an input that the provider handles separately, and changing it never
 * updates the resource.
 */
export interface Connection {
  /** As in commands, for messages. */
  stack?: string | undefined;
  /** Cloudflare's API. If the token is missing, the provider uses CLOUDFLARE_API_TOKEN. */
  cloudflare?: { apiToken?: string | undefined; baseUrl?: string | undefined } | undefined;
  endpoints?: Endpoints | undefined;
  /** Version that last deployed the resource, and its data formats. Added by the provider; absent before 0.1.0. */
  writer?: { version: string; formats: Readonly<Record<string, number>> } | undefined;
}

export const CONNECTION = "connection";

interface ProviderContext {
  connection?: Connection;
  /** Prints a line with the resource's output. */
  say?: (line: string) => void;
}

const current = new AsyncLocalStorage<ProviderContext>();

/** Merges the context into the current one. */
export function runInContext<Result>(context: ProviderContext, work: () => Result): Result {
  return current.run({ ...current.getStore(), ...context }, work);
}

export function connection(): Connection {
  return current.getStore()?.connection ?? {};
}

/** Prints a line in a preview, update or destroy. */
export function say(line: string): void {
  const show = current.getStore()?.say ?? ((text: string) => print(`${text}\n`));
  show(line);
}
