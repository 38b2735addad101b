import { base64url, hex } from "../../contract/digest.ts";
import { result } from "./unsent.ts";

/** The key pair lives in this browser's IndexedDB and cannot be read out of it. */
const DATABASE = "steward-chat";
const STORE = "keys";
const KEY = "device";

const BROWSERS = [
  ["Edge", "Edg/"],
  ["Firefox", "Firefox/"],
  ["Chrome", "Chrome/"],
  ["Safari", "Safari/"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["macOS", "Mac OS"],
  ["Linux", "Linux"],
] as const;

/** This browser, as the gateway knows it. */
export interface Device {
  /** SHA-256 of the public key in hexadecimal. */
  deviceId: string;
  /** The raw key, base64url. */
  publicKey: string;
  /** Signs a text with Ed25519 (RFC 8032); base64url. */
  sign(text: string): Promise<string>;
}

/**
 * Opens this browser's key, or makes one; `renew` makes another.
 *
 * @throws where the browser knows no Ed25519, or the page is neither on https nor on localhost.
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
      const signature = await crypto.subtle.sign({ name: "Ed25519" }, pair.privateKey, bytes);
      return base64url(new Uint8Array(signature));
    },
  };
}

/** Returns a browser's name for people, such as "Firefox on Linux". */
export function displayName(userAgent: string): string {
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([, word]) => userAgent.includes(word))?.[0];
  return [find(BROWSERS) ?? "Browser", find(SYSTEMS)].filter(Boolean).join(" on ");
}

async function makeKey(): Promise<CryptoKeyPair> {
  const pair = (await crypto.subtle.generateKey({ name: "Ed25519" }, false, [
    "sign",
    "verify",
  ])) as CryptoKeyPair;
  await stored("readwrite", (keys) => keys.put(pair, KEY));
  return pair;
}

async function stored<T>(mode: IDBTransactionMode, act: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const open = indexedDB.open(DATABASE, 1);
  open.addEventListener("upgradeneeded", () => void open.result.createObjectStore(STORE));
  const database = await result(open);
  const value = await result(act(database.transaction(STORE, mode).objectStore(STORE)));
  database.close();
  return value;
}
