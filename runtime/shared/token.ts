const encoder = new TextEncoder();

/** The token of an `Authorization: Bearer` header (RFC 6750 section 2.1), `undefined` for anything else. */
export function bearerToken(header: string | null | undefined): string | undefined {
  return /^Bearer +([^\s]+)$/i.exec(header ?? "")?.[1];
}

/**
 * Compares two tokens in a time that depends on their lengths only, so that an answer's delay
 * tells nothing about how much of a guess is right. An empty token equals nothing.
 */
export function isSameToken(given: string | undefined, expected: string): boolean {
  const a = encoder.encode(given ?? "");
  const b = encoder.encode(expected);
  let difference = a.length ^ b.length;
  for (let index = 0; index < b.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0 && b.length > 0;
}
