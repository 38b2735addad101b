import type { Clock } from "../ports.ts";

/** The cookie that a session is kept in. */
export const SESSION_COOKIE = "steward_session";
/** How long a session lasts. */
export const SESSION_SECONDS = 12 * 60 * 60;

const HMAC = { name: "HMAC", hash: "SHA-256" };
const FORM = /^(\d{13,15})\.([\w-]{43})$/;
const encoder = new TextEncoder();

/** Sessions that nothing is stored of: what a session says of itself is signed. */
export interface Sessions {
  /** The value of a new session's cookie. */
  issue(): Promise<string>;
  /** True for a value that was issued with this token and has not expired. */
  verify(value: string | undefined): Promise<boolean>;
}

/**
 * Sessions whose key comes from the admin token: the cookie does not hold the token, and a new token
 * ends every session. A session that is signed out lives on in a copy of its cookie until it expires.
 */
export function createSessions(adminToken: string, clock: Clock): Sessions {
  const key = deriveKey(adminToken);
  return {
    async issue() {
      const expiresAt = String(clock() + SESSION_SECONDS * 1_000);
      const signature = await crypto.subtle.sign("HMAC", await key, encoder.encode(expiresAt));
      return `${expiresAt}.${toBase64Url(new Uint8Array(signature))}`;
    },
    async verify(value) {
      const [, expiresAt, signature] = FORM.exec(value ?? "") ?? [];
      if (expiresAt === undefined || signature === undefined || Number(expiresAt) <= clock()) return false;
      return crypto.subtle.verify("HMAC", await key, fromBase64Url(signature), encoder.encode(expiresAt));
    },
  };
}

/** HKDF (RFC 5869) with a purpose of its own, so that the key is good for sessions only. */
async function deriveKey(adminToken: string) {
  const secret = await crypto.subtle.importKey("raw", encoder.encode(adminToken), "HKDF", false, [
    "deriveKey",
  ]);
  const purpose = { salt: new Uint8Array(), info: encoder.encode("steward-session-v1") };
  const usages = ["sign", "verify"] as const;
  const hkdf = { name: "HKDF", hash: "SHA-256", ...purpose };
  return crypto.subtle.deriveKey(hkdf, secret, { ...HMAC, length: 256 }, false, [...usages]);
}

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(text: string) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
