import { pathToFileURL } from "node:url";

/**
 * Returns the backend URL for a folder, without metadata files. They are not written atomically, so a killed engine
 * could leave a stack that cannot be loaded (https://pkg.go.dev/gocloud.dev/blob/fileblob#hdr-URLs).
 */
export function fileBackend(folder: string): string {
  return `${pathToFileURL(folder).href}?metadata=skip`;
}
