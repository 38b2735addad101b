/** Reads a gzipped stylesheet or script. The build replaces this placeholder. */
export async function readAsset(_name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return undefined;
}
