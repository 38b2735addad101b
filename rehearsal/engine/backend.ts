import { pathToFileURL } from "node:url";

/**
 * A folder as an engine's backend. It keeps no metadata beside a stack's state: nothing needs it, and it is not written
 * in one go, so that a stack whose engine is killed at that moment could not be loaded any more
 * (https://pkg.go.dev/gocloud.dev/blob/fileblob#hdr-URLs).
 */
export function fileBackend(folder: string): string {
  return `${pathToFileURL(folder).href}?metadata=skip`;
}
