import { expect, test } from "vitest";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { toResult, unwrap, type Result } from "../../../runtime/worker/rpc.ts";

/** A call whose result crosses the object's boundary: classes are lost on the way. */
const call = <T>(work: () => T | Promise<T>): Promise<T> =>
  unwrap(toResult(work).then((result) => structuredClone(result)));

test.each([["a value"], [undefined], [null], [0], [{ code: "restore_failed" }], [[1, 2]]])(
  "%j arrives as it is",
  async (value) => {
    expect(await call(() => value)).toEqual(value);
    expect(await call(async () => value)).toEqual(value);
  },
);

test("a response arrives with its body", async () => {
  const response = await unwrap(toResult(() => new Response("text", { status: 202 })));
  expect([response.status, await response.text()]).toEqual([202, "text"]);
});

test("an error arrives with its class, code and message", async () => {
  const failed = call(() => {
    throw new StewardError("restore_failed", "the bucket does not answer");
  });
  await expect(failed).rejects.toBeInstanceOf(StewardError);
  await expect(failed).rejects.toMatchObject({
    code: "restore_failed",
    message: "the bucket does not answer",
  });
});

test("an error without a code stays one, so that nobody is shown its message", async () => {
  const failed = call(() => Promise.reject(new TypeError("x is not a function")));
  await expect(failed).rejects.not.toBeInstanceOf(StewardError);
  await expect(failed).rejects.toThrow("x is not a function");
});

test.each([
  ["a text"],
  [undefined],
  [{ ready: true }],
  [{ code: "not a code", detail: "" }],
  [{ code: "internal" }],
])("%j, from an object of another version, is no result", async (result) => {
  const arriving = unwrap(Promise.resolve(result as unknown as Result<string>));
  await expect(arriving).rejects.toMatchObject({ code: "gateway_unavailable" });
});
