/**
 * One request to a chat platform from the provider. Errors are shown to people, so neither the address nor the
 * token is in them.
 */

/** Answer of a platform; `status` is 0 where nothing came. */
export interface PlatformAnswer {
  status: number;
  /** The answer's JSON, `undefined` where it is none. */
  body: unknown;
}

const TIMEOUT_MS = 30_000;

/**
 * Sends a request and returns whatever response arrives. The message of a failed connection is left out, because it may
 * contain the address.
 */
export async function askPlatform(
  method: string,
  address: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<PlatformAnswer> {
  try {
    const response = await fetch(address, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  } catch {
    return { status: 0, body: undefined };
  }
}

/** Returns the fields of a response body that is an object; an empty object if there is no body. */
export function bodyFields(body: unknown): Record<string, unknown> {
  return { ...(body as Record<string, unknown> | undefined) };
}
