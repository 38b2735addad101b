const encoder = new TextEncoder();

/**
 * Returns the token of an `Authorization: Bearer` header (RFC 6750, section 2.1). Returns `undefined` if the header
 * is missing, uses another scheme, or does not contain exactly one token.
 */
export function bearerToken(header: string | null | undefined): string | undefined {
  return /^Bearer +([^\s]+)$/i.exec(header ?? "")?.[1];
}

/**
 * Compares tokens in a time that depends only on their lengths, so response times reveal no partial match. An empty
 * token never matches.
 */
export function isSameToken(given: string | undefined, expected: string): boolean {
  const a = encoder.encode(given ?? "");
  const b = encoder.encode(expected);
  let difference = a.length ^ b.length;
  for (let index = 0; index < b.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0 && b.length > 0;
}
