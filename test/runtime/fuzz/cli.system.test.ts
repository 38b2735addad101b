import { readdir } from "node:fs/promises";
import { Writable } from "node:stream";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { createRedactor } from "../../../runtime/shared/redact.ts";
import { processOutput } from "../../../runtime/gateway/cli/context.ts";
import { runCommandLine } from "../../../runtime/gateway/cli/program.ts";
import { readProcessSettings } from "../../../runtime/process/settings.ts";
import { steward } from "../support/cli.ts";
import { temporaryDirectory } from "../support/processes.ts";

/** Fixed, so that a failure comes again; change it to look elsewhere. */
const SEED = 20_261_122;
const WORDS = [
  "pairing",
  "list",
  "approve",
  "reject",
  "slack",
  "telegram",
  "config",
  "get",
  "set",
  "unset",
  "validate",
  "schema",
  "health",
  "status",
  "channels",
  "sessions",
  "usage",
  "backup",
  "doctor",
  "help",
  "ABCDEFGH",
  "slack.dmPolicy",
  "__proto__.x",
  "constructor",
  "--json",
  "--env",
  "--plain",
  "--version",
  "--",
  "-x",
  "",
  "..",
];
const line = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...WORDS) },
    { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
  ),
  { minLength: 1, maxLength: 6 },
);

test(`2,000 command lines end with an answer or a clear error, and store nothing (seed ${SEED})`, async () => {
  const home = await temporaryDirectory();
  const environment = { STEWARD_HOME: home, GATEWAY_PORT: "1" };
  await fc.assert(
    fc.asyncProperty(line, async (args) => {
      let said = "";
      const stream = new Writable({
        write(chunk, _encoding, done) {
          said += String(chunk);
          done();
        },
      });
      const redact = createRedactor(environment);
      const output = processOutput({ stdout: stream, stderr: stream, redact });
      const settings = readProcessSettings(environment);
      const context = {
        environment,
        settings,
        redact,
        output,
        clock: Date.now,
        setExitCode: () => undefined,
      };
      try {
        await runCommandLine(context, args);
      } catch (error) {
        // Told as a stack trace, which is looked for below.
        if (!(error instanceof StewardError)) throw error;
        output.fail(args.includes("--json"), error);
      }
      expect(said).not.toBe("");
      expect(said).not.toMatch(/\bat .*:\d+:\d+|TypeError|undefined/);
    }),
    { seed: SEED, numRuns: 2_000 },
  );
  expect(await readdir(home)).toEqual([]);
});

test("a few dozen as processes: exit code 0 or 1", async () => {
  const home = await temporaryDirectory();
  for (const args of fc.sample(line, { seed: SEED, numRuns: 24 })) {
    const { code, stdout, stderr } = await steward({ STEWARD_HOME: home, GATEWAY_PORT: "1" }, ...args);
    expect([0, 1], args.join(" ")).toContain(code);
    expect(stdout + stderr, args.join(" ")).not.toMatch(/\bat .*:\d+:\d+|TypeError|undefined/);
  }
  expect(await readdir(home)).toEqual([]);
});
