import { parseJson } from "../../shared/json.ts";
import { readBytes } from "../../shared/read-bytes.ts";
import { StewardError } from "../../contract/errors.ts";
import type { ServiceOperation } from "../../contract/service-operations.ts";

const MAX_BODY_BYTES = 1024 * 1024;
/**
 * Maximum nesting depth, far above that of any platform's requests. Encoding JSON with thousands of levels would
 * fail.
 */
const DEEPEST = 200;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** Returns true for JSON's content type, which a plain HTML form cannot send. */
export function isJson(contentType: string | null | undefined): boolean {
  return JSON_TYPE.test(contentType ?? "");
}

/** Reads a JSON object of at most 1 MiB. Throws body_too_large, media_type_unsupported or body_invalid. */
export async function readJsonBody(request: Request): Promise<Record<string, unknown>> {
  return parseJsonObject(await readJsonText(request));
}

/**
 * Reads a JSON body of at most 1 MiB as text, so that its signature can be checked before the slower parsing. Throws
 * body_too_large or media_type_unsupported.
 */
export async function readJsonText(request: Request): Promise<string> {
  if (!isJson(request.headers.get("content-type"))) {
    throw new StewardError("media_type_unsupported");
  }
  return readBodyText(request);
}

/** Parses a JSON object of at most 200 nested levels. Throws body_invalid. */
export function parseJsonObject(text: string): Record<string, unknown> {
  if (isTooDeep(text))
    throw new StewardError("body_invalid", `The body has more than ${DEEPEST} nested levels.`);
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new StewardError("body_invalid");
  return value as Record<string, unknown>;
}

/** Reads at most 1 MiB. A chunked body has no `content-length`, so the limit is enforced while reading. */
export async function readBodyText(request: Request): Promise<string> {
  const length = request.headers.get("content-length");
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw new StewardError("body_too_large");
  if (length !== null && !request.headers.has("transfer-encoding")) return request.text();
  const bytes = await readBytes(request, MAX_BODY_BYTES);
  if (bytes === undefined) throw new StewardError("body_too_large");
  return new TextDecoder().decode(bytes);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Counts brackets outside strings. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString && code === BACKSLASH) at += 1;
    else if (code === QUOTE) inString = !inString;
    else if (inString) continue;
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
}

export interface OutgoingBody {
  bytes: string | Uint8Array<ArrayBuffer>;
  headers: { "content-type": string };
  /** Values of the validated fields; absent for a model request. */
  fields?: Record<string, unknown>;
}

/**
 * Reads a body and re-encodes its validated fields, so that the service receives exactly what was validated.
 * Exception: model requests are forwarded unparsed.
 *
 * @returns `undefined` for an operation without a body
 * @throws StewardError `body_too_large` or `broker_arguments_invalid`
 */
export async function readServiceBody(
  request: Request,
  { body, longest, fields }: ServiceOperation,
): Promise<OutgoingBody | undefined> {
  if (body === "none") return undefined;
  const bytes = await readBytes(request, longest);
  if (bytes === undefined) throw new StewardError("body_too_large", `The body is above ${longest} bytes.`);
  const json = { "content-type": "application/json" };
  if (body === "unread") return { bytes, headers: json };
  if (body === "parts") return readParts(bytes, request.headers.get("content-type") ?? "", fields);
  const text = new TextDecoder().decode(bytes);
  const given = body === "form" ? readForm(text) : parseJson(text);
  const read = fields?.safeParse(given);
  if (!read?.success) throw new StewardError("broker_arguments_invalid");
  if (body === "json") return { bytes: JSON.stringify(read.data), headers: json, fields: read.data };
  const form = new URLSearchParams(read.data as Record<string, string>);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return { bytes: form.toString(), headers, fields: read.data };
}

/** Validates the fields of a multipart body and encodes them again. Drops the part headers that the gateway sent. */
async function readParts(
  given: Uint8Array<ArrayBuffer>,
  type: string,
  fields: ServiceOperation["fields"],
): Promise<OutgoingBody> {
  const parts = await new Response(given, { headers: { "content-type": type } }).formData().catch(() => []);
  const entries = [...parts];
  const read = fields?.safeParse(Object.fromEntries(entries));
  if (!read?.success || Object.keys(read.data).length !== entries.length) {
    throw new StewardError("broker_arguments_invalid");
  }
  const form = new FormData();
  for (const [name, value] of entries) form.set(name, value);
  const made = new Response(form);
  const headers = { "content-type": made.headers.get("content-type") ?? "" };
  return { bytes: new Uint8Array(await made.arrayBuffer()), headers, fields: read.data };
}

/** Parses a form. Returns `undefined` if a field is repeated, because parsers disagree on which value counts. */
function readForm(text: string): Record<string, string> | undefined {
  const given = [...new URLSearchParams(text)];
  const form = Object.fromEntries(given);
  return Object.keys(form).length === given.length ? form : undefined;
}
