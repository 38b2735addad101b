import { StewardError } from "../../runtime/contract/errors.ts";
import type { Route } from "../../runtime/contract/routes.ts";
import { failureOf } from "../shell/failure.ts";
import {
  NONCE_PARAMETER,
  signAsStack,
  STACK_SIGNATURE_HEADER,
} from "../../runtime/contract/stack-signature.ts";

export interface StackQuestion {
  /** Address of the deployed service, without a path. */
  url: string;
  /** Secret key shared by the stack and the service. */
  key: string;
  route: Route;
  timeoutMs: number;
  fetch?: typeof globalThis.fetch;
}

/**
 * Sends a request to a route restricted to the stack, with a single-use signature. Rejects with `service_unreachable`
 * if there is no response.
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
