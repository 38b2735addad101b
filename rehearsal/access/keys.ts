import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type CryptoKey,
  type JWK,
} from "jose";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const ALGORITHM = "RS256";

export interface SigningKey {
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  jwk: JWK & { kid: string };
}

/** Reads or creates the signing key in `dir`. A persistent key keeps tokens valid across restarts. */
export async function signingKey(dir: string): Promise<SigningKey> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, "signing-key.json");
  const stored = read(file) ?? (await create(file));
  const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...open } = stored;
  const kid = await calculateJwkThumbprint(open);
  return {
    privateKey: await asymmetric(stored),
    publicKey: await asymmetric(open),
    jwk: { ...open, kid, alg: ALGORITHM, use: "sig" },
  };
}

async function create(file: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  writeFileSync(file, JSON.stringify(jwk), { mode: 0o600, flag: "wx" });
  return jwk;
}

function read(file: string): JWK | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as JWK;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function asymmetric(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ALGORITHM);
  if (key instanceof Uint8Array) throw new TypeError("the stored signing key is not an RSA key");
  return key;
}
