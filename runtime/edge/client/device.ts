import { base64url, hex } from "../../contract/digest.ts";
import { openDatabase, result } from "./unsent.ts";

/** IndexedDB database and object store for the device's key pair. The private key cannot be extracted. */
const STORE = { database: "steward-chat", store: "keys" };
const KEY = "device";

/**
 * Browser names with their user-agent tokens; the first match wins. Edge's user agent also contains Chrome's token.
 */
const BROWSERS = { Edge: "Edg/", Firefox: "Firefox/", Chrome: "Chrome/", Safari: "Safari/" };
const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"];

export interface Device {
  /** Hexadecimal SHA-256 of the public key. */
  deviceId: string;
  /** Raw key, base64url. */
  publicKey: string;
  /** Signs a string with Ed25519 (RFC 8032). Returns the signature as base64url. */
  sign(text: string): Promise<string>;
}

/**
 * Loads this browser's key pair. Creates a new one if there is none, or if `renew` is true.
 *
 * @throws if the browser does not support Ed25519, or the page is neither on https nor on localhost.
 */
export async function openDevice(renew: boolean): Promise<Device> {
  const pair = (renew ? undefined : await stored("readonly", (keys) => keys.get(KEY))) ?? (await makeKey());
  const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
  const hash = await crypto.subtle.digest("SHA-256", raw);
  return {
    deviceId: hex(hash),
    publicKey: base64url(new Uint8Array(raw)),
    async sign(text) {
      const bytes = new TextEncoder().encode(text);
      const signature = await crypto.subtle.sign("Ed25519", pair.privateKey, bytes);
      return base64url(new Uint8Array(signature));
    },
  };
}

/** Returns a browser's display name, such as "Firefox on Linux". */
export function displayName(userAgent: string): string {
  const [browser = "Browser"] = Object.entries(BROWSERS).find(([, word]) => userAgent.includes(word)) ?? [];
  const system = SYSTEMS.find((word) => userAgent.includes(word))?.replace("Mac OS", "macOS");
  return system === undefined ? browser : `${browser} on ${system}`;
}

async function makeKey(): Promise<CryptoKeyPair> {
  const usages: KeyUsage[] = ["sign", "verify"];
  const pair = (await crypto.subtle.generateKey("Ed25519", false, usages)) as CryptoKeyPair;
  await stored("readwrite", (keys) => keys.put(pair, KEY));
  return pair;
}

async function stored<T>(mode: IDBTransactionMode, act: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await openDatabase(STORE);
  const value = await result(act(database.transaction(STORE.store, mode).objectStore(STORE.store)));
  database.close();
  return value;
}
