/**
 * Random bytes from the cryptographic source. Web Crypto's, which Node loads when it is first used:
 * importing `node:crypto` costs every start 7 ms.
 */
export function randomBytes(length: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(length)));
}
