/** Returns a text's FNV-1a hash, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
export function shortHash(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
