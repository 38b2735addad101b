import { expect, test } from "vitest";
import { readFailure } from "../../../runtime/supervisor/run.ts";

const exit = { code: 1, signal: null, stderr: [] as string[] };

test("an invalid config is told with its problem lines, and is permanent", () => {
  const stderr = ["noise", "Invalid config at /x/steward.json:", "- a: b", "- c: d", "Fix: mend it"];
  expect(readFailure({ ...exit, stderr })).toMatchObject({
    permanent: true,
    reason: { code: "config_invalid", detail: "Invalid config at /x/steward.json:\n- a: b\n- c: d" },
  });
});

test.each([
  ["dm_policy_set", true],
  ["environment_invalid", true],
  ["port_in_use", false],
])("the code %s is read from the report", (code, permanent) => {
  const stderr = [`Error [${code}]: the detail`, "Fix: the fix"];
  expect(readFailure({ ...exit, stderr })).toMatchObject({
    permanent,
    reason: { code, detail: "the detail" },
  });
});

test("an uncaught error is told by its own line, not by Node's version", () => {
  const stderr = [
    "file.js:1",
    "  throw 1",
    "  ^",
    "",
    "TypeError: x is not a function",
    "    at a (b:1)",
    "",
    "Node.js v24",
  ];
  expect(readFailure({ ...exit, stderr }).reason).toMatchObject({
    code: "crash_looping",
    detail: "It exited with code 1: TypeError: x is not a function",
  });
});

test("too little memory is named", () => {
  expect(readFailure({ code: null, signal: "SIGKILL", stderr: [] }).reason.detail).toContain("out of memory");
  const stderr = ["FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"];
  expect(readFailure({ code: null, signal: "SIGABRT", stderr }).reason.detail).toContain("out of memory");
});

test("what the kernel killed for memory is told from what was killed by hand or for its silence", () => {
  const killed = { code: null, signal: "SIGKILL", stderr: [], outOfMemory: true } as const;
  expect(readFailure(killed)).toMatchObject({ reason: { code: "out_of_memory" }, permanent: false });
  expect(readFailure({ ...killed, outOfMemory: false }).reason.code).toBe("crash_looping");
  expect(readFailure({ ...killed, silentForMs: 1_000 }).reason.code).toBe("gateway_not_ready");
});

test("a silent start, a failed spawn and a silent end are told apart", () => {
  expect(readFailure({ ...exit, silentForMs: 120_000 }).reason).toMatchObject({
    code: "gateway_not_ready",
    detail: expect.stringContaining("120 s"),
  });
  expect(readFailure({ ...exit, code: null, spawnError: "spawn x ENOENT" }).reason.detail).toContain(
    "ENOENT",
  );
  expect(readFailure({ ...exit, code: 0 }).reason.detail).toBe("It exited with code 0.");
  expect(readFailure({ ...exit, stderr: ["Error [no_such_code]: x"] }).reason.code).toBe("crash_looping");
});
