import { AsyncLocalStorage } from "node:async_hooks";
import type { ServiceName } from "../../runtime/contract/services.ts";
import { print } from "../../runtime/shared/terminal.ts";

/** Addresses of the platforms; the platform's own where one is left out. */
export type Endpoints = { [Service in ServiceName]?: string | undefined };

/**
 * Reaches what a resource of this package manages. It is an input of the resource and no property of what is managed:
 * the provider gets it beside the others, and a change of it changes nothing.
 */
export interface Connection {
  /** The stack as the operator names it, for messages. */
  stack?: string | undefined;
  /** Cloudflare's API. Without a token, the provider's process has it as CLOUDFLARE_API_TOKEN. */
  cloudflare?: { apiToken?: string | undefined; baseUrl?: string | undefined } | undefined;
  endpoints?: Endpoints | undefined;
  /** Version that deployed the resource last, and its formats. The provider adds it; versions before 0.1.0 did not. */
  writer?: { version: string; formats: Readonly<Record<string, number>> } | undefined;
}

/** Name of the input. */
export const CONNECTION = "connection";

/** Context of a provider's method. */
interface ProviderContext {
  connection?: Connection;
  /** Shows a line to people beside the resource. */
  say?: (line: string) => void;
}

const current = new AsyncLocalStorage<ProviderContext>();

/** Runs a provider's method in this context, added to the present one. */
export function runInContext<Result>(context: ProviderContext, work: () => Result): Result {
  return current.run({ ...current.getStore(), ...context }, work);
}

/** Returns the connection of the resource that the provider works for. */
export function connection(): Connection {
  return current.getStore()?.connection ?? {};
}

/** Shows a line of a preview, an update or a destroy to people. */
export function say(line: string): void {
  const show = current.getStore()?.say ?? ((text: string) => print(`${text}\n`));
  show(line);
}
