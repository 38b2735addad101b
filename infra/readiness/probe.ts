import { setTimeout as sleep } from "node:timers/promises";
import { GivenUp, readinessChecks, type Check } from "./checks.ts";
import { containerReport, keepsEnding } from "./container.ts";

/**
 * Asks the service at PROBE_URL until every check passes, at most for PROBE_TIMEOUT_MS (default two
 * minutes: DNS, certificates and a cold start take their time). Exits 0 with one line a check, or 1
 * with the last reason of every check that did not pass, and with what Docker says of PROBE_CONTAINER.
 * The lines are in the order of the checks: they are an output of the stack, which must not change with the timing.
 */
const RETRY_AFTER_MS = 1_000;

const url = (process.env["PROBE_URL"] ?? "").replace(/\/$/, "");
const container = process.env["PROBE_CONTAINER"];
let end = Date.now() + Number(process.env["PROBE_TIMEOUT_MS"] ?? 120_000);
const checks = readinessChecks({
  publicWebhooks: process.env["PROBE_PUBLIC_WEBHOOKS"] !== "false",
  alwaysOn: container !== undefined,
  bundle: process.env["PROBE_BUNDLE"],
  attestation: process.env["PROBE_ATTESTATION"],
});
let waiting = checks;

for (;;) {
  const results = await Promise.all(waiting.map(async (check) => ({ check, failure: await run(check) })));
  const failed = results.filter(({ failure }) => failure !== undefined);
  waiting = failed.map(({ check }) => check);
  if (waiting.length === 0) break;
  if (container !== undefined && (await keepsEnding(container))) end = 0;
  if (Date.now() + RETRY_AFTER_MS > end) {
    const lines = failed.map(({ check, failure }) => `  ${check.name}: ${failure}`);
    const report = container === undefined ? [] : await containerReport(container);
    printPassed();
    process.stderr.write(`${[`${url} does not answer as it should:`, ...lines, ...report].join("\n")}\n`);
    process.exit(1);
  }
  await sleep(RETRY_AFTER_MS);
}
printPassed();

function printPassed(): void {
  const passed = checks.filter((check) => !waiting.includes(check));
  process.stdout.write(passed.map((check) => `ok   ${check.name}\n`).join(""));
}

async function run(check: Check): Promise<string | undefined> {
  try {
    return await check.run(fetch, url);
  } catch (error) {
    if (error instanceof GivenUp) {
      end = 0;
      return error.message;
    }
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return `no answer (${cause instanceof Error ? cause.message : String(cause)})`;
  }
}
