import { pathToFileURL } from "node:url";

/**
 * Returns the URL of a backend in a folder, with metadata files disabled. The engine does not write them atomically:
 * if killed, it could leave a stack that cannot be loaded (https://pkg.go.dev/gocloud.dev/blob/fileblob#hdr-URLs).
 */
export function fileBackend(folder: string): string {
  return `${pathToFileURL(folder).href}?metadata=skip`;
}
