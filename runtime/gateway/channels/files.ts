import type { Attachment } from "../../contract/message.ts";
import { StewardError } from "../../contract/errors.ts";

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function attachmentKind(mediaType: string | undefined): Attachment["kind"] {
  const kind = mediaType?.split("/", 1)[0];
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}

export interface FetchFileOptions {
  /** Returns true if requests to a URL are allowed. Called for the first URL and each redirect. */
  allowed(url: URL): boolean;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Fetches a file from allowed hosts only. Enforces `maxBytes` during the download.
 *
 * @throws StewardError if the file cannot be fetched.
 */
export async function fetchFile(address: string, options: FetchFileOptions): Promise<Uint8Array> {
  const { maxBytes, signal } = options;
  let url = address;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (!URL.canParse(url) || !options.allowed(new URL(url)))
      throw failed("its address is not on an allowed host");
    const response = await fetch(url, { signal, redirect: "manual" }).catch((error: unknown) => {
      throw failed("no answer", error);
    });
    const location = response.headers.get("location");
    if (REDIRECTS.has(response.status) && location !== null && URL.canParse(location, url)) {
      await response.body?.cancel();
      url = new URL(location, url).href;
      continue;
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw failed(`HTTP ${response.status}`);
    }
    return readFileBody(response, maxBytes);
  }
  throw failed("too many redirects");
}

/**
 * Reads a file from a response.
 *
 * @throws StewardError if it is larger than `maxBytes`.
 */
export async function readFileBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the rest of the download.
    if (size > maxBytes) throw failed(`it is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function failed(why: string, cause?: unknown): StewardError {
  return new StewardError("channel_failed", `The file could not be fetched: ${why}.`, { cause });
}
