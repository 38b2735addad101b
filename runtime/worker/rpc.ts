import * as z from "zod/mini";
import { type ErrorCode, isErrorCode, StewardError } from "../contract/errors.ts";
import { once } from "../shared/once.ts";

/**
 * Outcome of a call to the Durable Object. An error is returned as data, because it would lose its class across RPC.
 * The code `internal` marks an unexpected error, whose `detail` is for logs only.
 */
export type Result<T> = { value: T } | { code: ErrorCode; detail: string };

/** Methods of `T` as a Durable Object offers them, each resolving to a {@link Result}. */
export type Remote<T> = {
  [Method in keyof T]: T[Method] extends (...given: infer Given) => Promise<infer Value>
    ? (...given: Given) => Promise<Result<Value>>
    : never;
};

const resultForm = once(() =>
  z.union([
    z.strictObject({ code: z.custom<ErrorCode>(isErrorCode), detail: z.string() }),
    z.strictObject({ value: z.unknown() }),
  ]),
);

/** Never rejects. */
export async function toResult<T>(work: () => T | Promise<T>): Promise<Result<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (error instanceof StewardError) return { code: error.code, detail: error.message };
    return { code: "internal", detail: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Returns the value of a successful remote call.
 *
 * @throws StewardError with a failed call's error code; a plain Error if that code is `internal`
 */
export async function unwrap<T>(call: Promise<Result<T>>): Promise<T> {
  const result = await call;
  const parsed = resultForm().safeParse(result);
  if (!parsed.success) throw new StewardError("gateway_unavailable", "The object runs another version.");
  if (!("code" in parsed.data)) return parsed.data.value as T;
  const { code, detail } = parsed.data;
  throw code === "internal" ? new Error(detail) : new StewardError(code, detail);
}
