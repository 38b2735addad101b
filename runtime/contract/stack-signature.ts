import { hmacHex, hmacKey } from "./digest.ts";

/**
 * Header with which the stack signs its requests to the deployment. The signature is an HMAC of the method, the path
 * with query, and the time in seconds. Its key is ATTESTATION_KEY. Each signature is accepted only once, so every
 * request has a {@link NONCE_PARAMETER}.
 */
export const STACK_SIGNATURE_HEADER = "x-steward-signature";

/** Query parameter that makes the signatures of requests in the same second differ. */
export const NONCE_PARAMETER = "nonce";

/** Largest accepted difference between the two clocks. */
const VALID_SECONDS = 300;
const FORM = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;
const encoder = new TextEncoder();

export interface SignedRequest {
  method: string;
  /** Path with query. */
  path: string;
}

/** Returns the value of {@link STACK_SIGNATURE_HEADER}. `now` is in milliseconds since the epoch. */
export async function signAsStack(key: string, request: SignedRequest, now: number): Promise<string> {
  const seconds = Math.floor(now / 1_000);
  return `t=${seconds},v1=${await hmacHex(key, signedText(request, seconds))}`;
}

export interface StackSignature {
  mac: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/**
 * Returns the request's signature if it is valid and its time is close to `now` (milliseconds since the epoch), else
 * `undefined`. The comparison takes constant time.
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

/** Returns the text to sign. Its first line prevents confusion with attestations, which use the same key. */
function signedText({ method, path }: SignedRequest, seconds: number): string {
  return `stack request\n${method}\n${path}\n${seconds}`;
}
