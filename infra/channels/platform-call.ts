/** A platform's response. `status` is 0 if no response arrived. */
export interface PlatformAnswer {
  status: number;
  /** Parsed JSON; `undefined` if the body is not JSON. */
  body: unknown;
}

const TIMEOUT_MS = 30_000;

/**
 * Sends a request and returns the response, whatever its status. Drops a connection error's message, because it may
 * contain a secret address.
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
