const encoder = new TextEncoder();

/** Returns the SHA-256 of a text in UTF-8, in hexadecimal. */
export async function sha256Hex(text: string): Promise<string> {
  return hex(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

/** Returns the HMAC-SHA256 of a text, in hexadecimal. */
export async function hmacHex(key: string, text: string): Promise<string> {
  return hex(await crypto.subtle.sign("HMAC", await hmacKey(key, "sign"), encoder.encode(text)));
}

/** Imports the key of an HMAC-SHA256. */
export function hmacKey(key: string, use: "sign" | "verify") {
  return crypto.subtle.importKey("raw", encoder.encode(key), { name: "HMAC", hash: "SHA-256" }, false, [use]);
}

/** Returns bytes in hexadecimal. */
export function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns bytes as base64url without padding (RFC 4648 section 5). */
export function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Returns the bytes of base64url.
 *
 * @throws DOMException for a text that is none.
 */
export function fromBase64url(text: string) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
