import { StewardError } from "../../contract/errors.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** A body as text, for its signature, and as the JSON object that it must be. */
export interface JsonBody {
  text: string;
  value: Record<string, unknown>;
}

/** True for the content type of JSON, which no plain form can send. */
export function isJson(contentType: string | null | undefined): boolean {
  return JSON_TYPE.test(contentType ?? "");
}

/** Reads a JSON object of at most 1 MiB. Throws body_too_large, media_type_unsupported or body_invalid. */
export async function readJsonBody(request: Request): Promise<JsonBody> {
  if (!isJson(request.headers.get("content-type"))) {
    throw new StewardError("media_type_unsupported");
  }
  const text = await readText(request);
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new StewardError("body_invalid");
  return { text, value: value as Record<string, unknown> };
}

/**
 * A body as text of at most 1 MiB. A server reads no more than the length that a request names; a chunked one
 * names none, so the limit is held while it is read.
 */
export async function readText(request: Request): Promise<string> {
  const length = request.headers.get("content-length");
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw new StewardError("body_too_large");
  if (length !== null && !request.headers.has("transfer-encoding")) return request.text();
  if (request.body === null) return "";
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw new StewardError("body_too_large");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StewardError("body_invalid", "The body is not JSON.", { cause: error });
  }
}
