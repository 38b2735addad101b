import { hmacHex, hmacKey } from "./digest.ts";

/**
 * Signature of a stack's requests to what it has deployed, under the key that only the two know (ATTESTATION_KEY). It
 * covers the method, the path with its query, and the time in seconds; there is no body. Each is accepted once, so every
 * request has a {@link NONCE_PARAMETER}.
 */
export const STACK_SIGNATURE_HEADER = "x-steward-signature";

/** Query parameter that makes two requests of one second differ. A service that does not know it ignores it. */
export const NONCE_PARAMETER = "nonce";

/** A signature is taken this long, either way: clocks differ. */
const VALID_SECONDS = 300;
const FORM = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;
const encoder = new TextEncoder();

/** Signed part of a request. */
export interface SignedRequest {
  method: string;
  /** Path with query. */
  path: string;
}

/** The header's value for a request at this time, in milliseconds. */
export async function signAsStack(key: string, request: SignedRequest, now: number): Promise<string> {
  const seconds = Math.floor(now / 1_000);
  return `t=${seconds},v1=${await hmacHex(key, signedText(request, seconds))}`;
}

/** A signature that the stack made for a request. */
export interface StackSignature {
  mac: string;
  /** The time, in milliseconds, after which it is refused. */
  expiresAt: number;
}

/**
 * Returns the stack's signature of this request if it was made not long before or after `now`, else `undefined`. Takes
 * the same time for every wrong signature.
 */
export async function verifyStackSignature(
  key: string,
  request: SignedRequest,
  header: string,
  now: number,
): Promise<StackSignature | undefined> {
  const [, seconds = "", hex = ""] = FORM.exec(header) ?? [];
  if (hex === "" || Math.abs(now / 1_000 - Number(seconds)) > VALID_SECONDS) return undefined;
  const mac = Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  const text = encoder.encode(signedText(request, Number(seconds)));
  const isRight = await crypto.subtle.verify("HMAC", await hmacKey(key, "verify"), mac, text);
  return isRight ? { mac: hex, expiresAt: (Number(seconds) + VALID_SECONDS) * 1_000 } : undefined;
}

/** Begins as nothing does that is attested under the same key. */
function signedText({ method, path }: SignedRequest, seconds: number): string {
  return `stack request\n${method}\n${path}\n${seconds}`;
}
