import * as z from "zod/mini";
import { type ErrorCode, isErrorCode, StewardError } from "../contract/errors.ts";
import { once } from "../shared/once.ts";

/**
 * End of a call to the Durable Object. An error is data, since it loses its class on the way out. `internal` is any
 * error without a code; its detail is for the log only.
 */
export type Result<T> = { value: T } | { code: ErrorCode; detail: string };

/** The methods of a Durable Object that has those of `T`. */
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

/** Runs a call inside the object. Never rejects. */
export async function toResult<T>(work: () => T | Promise<T>): Promise<Result<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (error instanceof StewardError) return { code: error.code, detail: error.message };
    return { code: "internal", detail: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Returns the value of a call that has arrived outside of the object.
 *
 * @throws StewardError the call's error; a plain error for `internal`, and what the platform rejects the call with.
 */
export async function unwrap<T>(call: Promise<Result<T>>): Promise<T> {
  const result = await call;
  const parsed = resultForm().safeParse(result);
  if (!parsed.success) throw new StewardError("gateway_unavailable", "The object runs another version.");
  if (!("code" in parsed.data)) return parsed.data.value as T;
  const { code, detail } = parsed.data;
  throw code === "internal" ? new Error(detail) : new StewardError(code, detail);
}
