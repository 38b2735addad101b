import { AsyncLocalStorage } from "node:async_hooks";
import type { ServiceName } from "../../runtime/contract/services.ts";
import { print } from "../../runtime/shared/terminal.ts";

/** Addresses of chat platforms and other services. Default: the public ones. */
export type Endpoints = { [Service in ServiceName]?: string | undefined };

/**
 * Credentials and addresses with which the provider manages a resource. Changing this input never updates the
 * resource.
 */
export interface Connection {
  /** Stack name to print in suggested commands. */
  stack?: string | undefined;
  /** Without a token, the provider uses CLOUDFLARE_API_TOKEN. */
  cloudflare?: { apiToken?: string | undefined; baseUrl?: string | undefined } | undefined;
  endpoints?: Endpoints | undefined;
  /**
   * Package version that last deployed the resource, and the versions of its data formats. Absent if that package
   * version was older than 0.1.0.
   */
  writer?: { version: string; formats: Readonly<Record<string, number>> } | undefined;
}

export const CONNECTION = "connection";

interface ProviderContext {
  connection?: Connection;
  /** Prints a line with the resource's output. */
  say?: (line: string) => void;
}

const current = new AsyncLocalStorage<ProviderContext>();

export function runInContext<Result>(context: ProviderContext, work: () => Result): Result {
  return current.run({ ...current.getStore(), ...context }, work);
}

export function connection(): Connection {
  return current.getStore()?.connection ?? {};
}

/** Prints a line in the output of the running preview, update or destroy. */
export function say(line: string): void {
  const show = current.getStore()?.say ?? ((text: string) => print(`${text}\n`));
  show(line);
}
