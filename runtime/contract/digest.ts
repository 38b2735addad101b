const encoder = new TextEncoder();

export async function sha256Hex(text: string): Promise<string> {
  return hex(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

export async function hmacHex(key: string, text: string): Promise<string> {
  return hex(await crypto.subtle.sign("HMAC", await hmacKey(key, "sign"), encoder.encode(text)));
}

export function hmacKey(key: string, use: "sign" | "verify") {
  return crypto.subtle.importKey("raw", encoder.encode(key), { name: "HMAC", hash: "SHA-256" }, false, [use]);
}

export function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns bytes as base64url without padding (RFC 4648 section 5). */
export function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Decodes base64url.
 *
 * @throws DOMException if the text cannot be decoded.
 */
export function fromBase64url(text: string) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
