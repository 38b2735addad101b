/** Users see the errors of these requests, so errors contain neither address nor token. */

/** `status` is 0 if there was no response. */
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

export function bodyFields(body: unknown): Record<string, unknown> {
  return { ...(body as Record<string, unknown> | undefined) };
}
