import { proofText } from "../../contract/chat.ts";
import type { Hello } from "./from-page.ts";

/** What a raw Ed25519 key is in SubjectPublicKeyInfo, up to the key itself (RFC 8410 section 10.1). */
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** Whether a page holds the key of the device that it says it is, and signed this very connection's nonce. */
export function isProven(hello: Hello, nonce: string, origin: string): boolean {
  // Loaded with the first page that connects, and not with every start.
  const { createHash, createPublicKey, verify } = process.getBuiltinModule("node:crypto");
  const { deviceId, publicKey, signature } = hello;
  const raw = Buffer.from(publicKey, "base64url");
  if (createHash("sha256").update(raw).digest("hex") !== deviceId) return false;
  const text = Buffer.from(proofText({ nonce, deviceId, origin }));
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: "der", type: "spki" });
    return verify(null, text, key, Buffer.from(signature, "base64url"));
  } catch {
    // Not a point of the curve.
    return false;
  }
}
