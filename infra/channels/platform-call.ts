/** Requests of the provider to chat platforms. Users see the errors, so errors contain neither address nor token. */

/** Response of a platform. `status` is 0 if there was none. */
export interface PlatformAnswer {
  status: number;
  /** Parsed JSON; `undefined` if the body is not JSON. */
  body: unknown;
}

const TIMEOUT_MS = 30_000;

/**
 * Sends a request and returns any response. Drops the message of a connection error, because it may contain the
 * address.
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

/** Returns the fields of a response body; an empty object if there is no body. */
export function bodyFields(body: unknown): Record<string, unknown> {
  return { ...(body as Record<string, unknown> | undefined) };
}
