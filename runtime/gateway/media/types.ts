/** Media types that chats show or play, by file name extension. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  m4a: "audio/mp4",
  md: "text/markdown",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  txt: "text/plain",
  wav: "audio/wav",
  webp: "image/webp",
};

/** Returns `application/octet-stream` for an unknown extension. */
export function mediaTypeOf(name: string): string {
  const ending = name.split(".").at(-1)?.toLowerCase() ?? "";
  return (Object.hasOwn(MEDIA_TYPES, ending) && MEDIA_TYPES[ending]) || "application/octet-stream";
}

/** Returns a file name extension such as `png`; `bin` for an unknown media type. */
export function endingOf(mediaType: string): string {
  const plain = mediaType.split(";", 1)[0]?.trim().toLowerCase().replace("/x-", "/");
  return Object.entries(MEDIA_TYPES).findLast(([, type]) => type === plain)?.[0] ?? "bin";
}
