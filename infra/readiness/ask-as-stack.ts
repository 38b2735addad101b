import { StewardError } from "../../runtime/contract/errors.ts";
import type { Route } from "../../runtime/contract/routes.ts";
import { failureOf } from "../shell/failure.ts";
import {
  NONCE_PARAMETER,
  signAsStack,
  STACK_SIGNATURE_HEADER,
} from "../../runtime/contract/stack-signature.ts";

/** The question of {@link askAsStack}. */
export interface StackQuestion {
  /** The deployed service's address, without a path. */
  url: string;
  /** The key that stack and service share. */
  key: string;
  route: Route;
  timeoutMs: number;
  fetch?: typeof globalThis.fetch;
}

/**
 * Asks the deployed service for one of the routes that only its stack may ask for, under a signature for this request
 * alone. Rejects if no answer comes.
 */
export async function askAsStack(question: StackQuestion): Promise<Response> {
  const { url, key, route, timeoutMs, fetch = globalThis.fetch } = question;
  const { method } = route;
  const path = `${route.path}?${NONCE_PARAMETER}=${crypto.randomUUID()}`;
  const headers = { [STACK_SIGNATURE_HEADER]: await signAsStack(key, { method, path }, Date.now()) };
  try {
    return await fetch(`${url}${path}`, { method, headers, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new StewardError("service_unreachable", `${url} does not answer: ${failureOf(error)}.`, {
      cause: error,
    });
  }
}
