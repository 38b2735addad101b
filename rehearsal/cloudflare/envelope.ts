import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import * as z from "zod";

/** https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ */
export interface ApiMessage {
  code: number;
  message: string;
  error_chain?: ApiMessage[];
}

export class ApiError extends Error {
  readonly status: ContentfulStatusCode;
  readonly entry: ApiMessage;

  constructor(status: ContentfulStatusCode, code: number, message: string, chain?: ApiMessage[]) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.entry = { code, message, ...(chain && { error_chain: chain }) };
  }
}

/** Returns the error for an invalid body. Cloudflare documents no codes for individual fields. */
export function invalid(message: string): ApiError {
  return new ApiError(400, 10001, message);
}

/** Returns the error for a Cloudflare feature that is not emulated. */
export function notModelled(what: string): ApiError {
  return new ApiError(501, 10501, `The rehearsal's emulation does not model ${what}`);
}

export function ok(context: Context, result: unknown, info?: Record<string, unknown>): Response {
  return context.json({
    success: true,
    errors: [],
    messages: [],
    result,
    ...(info && { result_info: info }),
  });
}

export function fail(context: Context, error: ApiError): Response {
  return context.json({ success: false, errors: [error.entry], messages: [], result: null }, error.status);
}

/** Answers with one page of a list. A page past the end is empty, which ends the SDK's iteration. */
export function page(context: Context, items: readonly unknown[]): Response {
  const number = positive(context.req.query("page"), 1);
  const size = positive(context.req.query("per_page"), 100);
  const shown = items.slice((number - 1) * size, number * size);
  return ok(context, shown, {
    page: number,
    per_page: size,
    count: shown.length,
    total_count: items.length,
  });
}

/**
 * Reads and validates a JSON body, and reports all problems together. Treats null as absent, because the official
 * provider sends null for an unset property.
 */
export async function readBody<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const body: unknown = await context.req.json().catch(() => {
    throw invalid("The request's body is not JSON");
  });
  const parsed = schema.safeParse(withoutNulls(body));
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  return parsed.data;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const given = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(given.map(([key, item]) => [key, withoutNulls(item)]));
}

function positive(text: string | undefined, otherwise: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 ? value : otherwise;
}
