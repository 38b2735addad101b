/** Reads a gzipped stylesheet or script; `undefined` if it does not exist. The Worker's bundle replaces this module. */
export async function readAsset(_name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return undefined;
}
