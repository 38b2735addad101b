import { StewardError } from "../contract/errors.ts";
import type { ServiceOperation } from "../contract/service-operations.ts";
import { parseJson } from "../shared/json.ts";
import { readBytes } from "../shared/read-bytes.ts";

/** Body of a request to a service. */
export interface OutgoingBody {
  bytes: string | Uint8Array<ArrayBuffer>;
  headers: { "content-type": string };
  /** The validated fields that it is made of; none for a question to a model. */
  fields?: Record<string, unknown>;
}

/**
 * Reads the body of an operation and encodes its validated fields again, so that a service reads what was validated. A
 * question to a model is forwarded unread.
 *
 * @returns `undefined` for an operation without a body.
 * @throws StewardError `body_too_large` or `broker_arguments_invalid`
 */
export async function readBody(
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

/** Encodes the parts again: what the gateway wrote around them does not go out. */
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

/** Returns `undefined` if a field is repeated: readers disagree on which value counts. */
function readForm(text: string): Record<string, string> | undefined {
  const given = [...new URLSearchParams(text)];
  const form = Object.fromEntries(given);
  return Object.keys(form).length === given.length ? form : undefined;
}
