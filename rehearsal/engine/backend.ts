import { pathToFileURL } from "node:url";

/**
 * Returns a folder's backend URL without metadata files. They are not written atomically, so an engine killed
 * meanwhile would leave an unloadable stack (https://pkg.go.dev/gocloud.dev/blob/fileblob#hdr-URLs).
 */
export function fileBackend(folder: string): string {
  return `${pathToFileURL(folder).href}?metadata=skip`;
}
