import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";

/** Discord's key pair for signatures, in hexadecimal digits. The developer portal shows only the public key. */
export interface DiscordKey {
  privateKey: string;
  publicKey: string;
}

const hex = (base64url = ""): string => Buffer.from(base64url, "base64url").toString("hex");
const base64url = (text: string): string => Buffer.from(text, "hex").toString("base64url");

export function createDiscordKey(): DiscordKey {
  const { d, x } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return { privateKey: hex(d), publicKey: hex(x) };
}

/**
 * https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers
 */
export function signInteraction(key: DiscordKey, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const jwk = { kty: "OKP", crv: "Ed25519", d: base64url(key.privateKey), x: base64url(key.publicKey) };
  const privateKey = createPrivateKey({ key: jwk, format: "jwk" });
  return {
    "content-type": "application/json",
    "user-agent": "Discord-Interactions/1.0 (+https://discord.com)",
    "x-signature-timestamp": timestamp,
    "x-signature-ed25519": sign(null, Buffer.from(timestamp + body), privateKey).toString("hex"),
  };
}
