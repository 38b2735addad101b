/**
 * Probes the service at PROBE_URL until every check passes or PROBE_TIMEOUT_MS has elapsed. On failure, prints each
 * failed check's last error and the state and last log lines of the container PROBE_CONTAINER, then exits with code
 * 1.
 *
 * PROBE_STACK is the stack name for suggested commands. PROBE_CHANNELS lists the channels that must work. With
 * PROBE_ALERTS=true, sends a test alert. Reads the key for the stack-only routes from standard input.
 */
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { commandsFor } from "../shell/package.ts";
import { FatalCheckError, readinessChecks, CheckWarning, type Check } from "./checks.ts";
import { containerReport, keepsEnding } from "./container.ts";
import { print, printError } from "../../runtime/shared/terminal.ts";

const RETRY_AFTER_MS = 1_000;

const url = (process.env["PROBE_URL"] ?? "").replace(/\/$/, "");
const container = process.env["PROBE_CONTAINER"];
let end = Date.now() + Number(process.env["PROBE_TIMEOUT_MS"] ?? 120_000);
const names = (process.env["PROBE_CHANNELS"] ?? "").split(",").filter(Boolean);
const alerts = process.env["PROBE_ALERTS"] === "true";
const key = (await text(process.stdin)).trim();
const checks = readinessChecks({
  publicWebhooks: process.env["PROBE_PUBLIC_WEBHOOKS"] !== "false",
  alwaysOn: container !== undefined,
  bundle: process.env["PROBE_BUNDLE"],
  attestation: process.env["PROBE_ATTESTATION"],
  channels: names,
  alerts,
  key,
  commands: commandsFor(process.env["PROBE_STACK"]),
});
const remarks = new Map<Check, string>();
let waiting = checks;

for (;;) {
  const answers = await Promise.all(waiting.map(async (check) => ({ check, answer: await runCheck(check) })));
  for (const { check, answer } of answers)
    if (answer instanceof CheckWarning) remarks.set(check, answer.message);
  const open = answers.filter(
    ({ answer }) => answer !== undefined && !(answer instanceof CheckWarning && answer.final),
  );
  waiting = open.map(({ check }) => check);
  const failed = open.flatMap(({ check, answer }) => (typeof answer === "string" ? [{ check, answer }] : []));
  if (waiting.length === 0) break;
  if (container !== undefined && (await keepsEnding(container))) end = 0;
  if (Date.now() + RETRY_AFTER_MS > end) {
    if (failed.length === 0) break;
    const lines = failed.map(({ check, answer }) => `  ${check.name}: ${answer}`);
    const report = container === undefined ? [] : await containerReport(container);
    printReport(waiting);
    printError(`${[`${url} failed these checks:`, ...lines, ...report].join("\n")}\n`);
    process.exit(1);
  }
  await sleep(RETRY_AFTER_MS);
}
printReport([]);

/** Prints one line per check or group of checks. Omits the checks in `failed`. */
function printReport(failed: readonly Check[]): void {
  const shown = checks.filter((check) => !failed.includes(check));
  const lines = shown.map((check) => {
    const remark = remarks.get(check);
    if (remark !== undefined) return `note ${check.name}: ${remark}\n`;
    const { name, group } = check;
    const like = shown.filter((other) => other.group === group && !remarks.has(other));
    return `ok   ${group === undefined ? name : `${like.length} ${group}`}\n`;
  });
  print([...new Set(lines)].join(""));
}

/** Runs a check. Resolves to `undefined` if it passes, otherwise to a warning or the reason for the failure. */
async function runCheck(check: Check): Promise<string | CheckWarning | undefined> {
  try {
    const answer = await check.run(fetch, url);
    remarks.delete(check);
    return answer;
  } catch (error) {
    if (error instanceof CheckWarning) return error;
    if (error instanceof FatalCheckError) {
      end = 0;
      return error.message;
    }
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return `no answer (${cause instanceof Error ? cause.message : String(cause)})`;
  }
}
