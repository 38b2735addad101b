import { hmacHex, hmacKey } from "./digest.ts";

/**
 * Signature of a stack's questions to what it has deployed: by a signature under the key that only the two know (ATTESTATION_KEY). It
 * covers the method, the path and the time, in seconds; there is no body.
 */
export const STACK_SIGNATURE_HEADER = "x-steward-signature";

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

/** Tells whether the stack signed this request, not long before or after `now`. Takes the same time for every wrong signature. */
export async function signedByStack(
  key: string,
  request: SignedRequest,
  header: string,
  now: number,
): Promise<boolean> {
  const [, seconds = "", hex = ""] = FORM.exec(header) ?? [];
  if (hex === "" || Math.abs(now / 1_000 - Number(seconds)) > VALID_SECONDS) return false;
  const mac = Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  const text = encoder.encode(signedText(request, Number(seconds)));
  return crypto.subtle.verify("HMAC", await hmacKey(key, "verify"), mac, text);
}

/** Begins as nothing does that is attested under the same key. */
function signedText({ method, path }: SignedRequest, seconds: number): string {
  return `stack request\n${method}\n${path}\n${seconds}`;
}
