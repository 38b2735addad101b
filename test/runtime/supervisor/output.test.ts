import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRedactor } from "../../../runtime/shared/redact.ts";
import { Output } from "../../../runtime/supervisor/output.ts";
import { SECRETS, temporaryDirectory } from "../support/processes.ts";

async function outputTo(limitBytes = 1_000_000) {
  const home = await temporaryDirectory();
  const seen: string[] = [];
  const errors: unknown[] = [];
  const file = join(home, "logs", "gateway.log");
  const output = new Output({
    file,
    limitBytes,
    redact: createRedactor(SECRETS),
    firstNumber: 1_000,
    onLine: (line) => void seen.push(line),
    onFileError: (error) => void errors.push(error),
  });
  return { output, file, home, seen, errors };
}

test("pieces become lines; a secret in pieces is still found", async () => {
  const { output, file, seen } = await outputTo();
  const half = SECRETS.SLACK_SIGNING_SECRET.slice(0, 10);
  output.write("stdout", `one\ntwo ${half}`);
  output.write("stderr", "wrong\r\nlast");
  output.write("stdout", `${SECRETS.SLACK_SIGNING_SECRET.slice(10)} end\n`);

  expect(output.endRun()).toEqual(["wrong", "last"]);
  expect(seen).toEqual(["one", "wrong", "two [redacted] end", "last"]);
  expect(output.tail()).toEqual(seen);
  expect(await readFile(file, "utf8")).toBe(`${seen.join("\n")}\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(output.endRun()).toEqual([]);
});

test("the file stays within two generations of its limit, memory within its lines", async () => {
  const { output, file, home } = await outputTo(1_000);
  for (let index = 0; index < 2_000; index += 1) output.write("stdout", `line ${index}\n`);

  expect((await readdir(join(home, "logs"))).sort()).toEqual(["gateway.log", "gateway.log.1"]);
  expect((await stat(file)).size).toBeLessThanOrEqual(1_000);
  expect((await stat(`${file}.1`)).size).toBeLessThanOrEqual(1_000);
  expect(await readFile(file, "utf8")).toContain("line 1999\n");
  expect(output.tail()).toHaveLength(500);
});

test("a line without an end is cut, and no secret shows at the cut", async () => {
  const { output } = await outputTo();
  output.write("stdout", `${"x".repeat(8_180)}${SECRETS.SLACK_SIGNING_SECRET}${"y".repeat(70_000)}`);

  const [line = ""] = output.tail();
  expect(line.length).toBeLessThan(9_000);
  expect(line).not.toContain("signing");
});

test("a log file that cannot be written is told once, and the memory goes on", async () => {
  const { output, home, errors } = await outputTo();
  await writeFile(join(home, "logs"), "in the way");
  output.write("stdout", "one\ntwo\n");

  expect(errors).toHaveLength(1);
  expect(output.tail()).toEqual(["one", "two"]);
});

test("a reader goes on behind the lines that it has, also over a restart", async () => {
  const { output } = await outputTo();
  expect([output.tail(), output.next]).toEqual([[], 1_000]);
  output.write("stdout", "one\ntwo\n");
  expect([output.tail(1_001), output.next]).toEqual([["two"], 1_002]);
  expect(output.tail(1_002)).toEqual([]);
  // Of a run before this one, and of one that never was.
  expect(output.tail(7)).toEqual(["one", "two"]);
  expect(output.tail(9_999)).toEqual(["one", "two"]);
  for (let index = 0; index < 600; index += 1) output.write("stdout", `line ${index}\n`);
  expect(output.tail(1_001)).toHaveLength(500);
  expect(output.tail(1_600)).toEqual(["line 598", "line 599"]);
});
