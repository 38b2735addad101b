/**
 * Reads a gzipped style or script of the pages; `undefined` if there is no such file. The Worker's bundle replaces this
 * module with one that loads the files beside the bundle.
 */
export async function readAsset(_name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return undefined;
}
