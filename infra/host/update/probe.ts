// Starts PROBE_CONTAINER in the place of the version before, and asks as the readiness probe does. Exits as that
// does; where it fails, after the version before answers again.
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { run } from "../../shell/process.ts";
import { inspectContainer } from "./copy.ts";
import { dropFormer, formerName, goBack, putInPlace } from "./former.ts";
import { openTunnel } from "./tunnel.ts";

const PROBE = fileURLToPath(new URL("../../readiness/probe.ts", import.meta.url));
/** Shorter than the probe's own: somebody waits for the version before. */
const TIMEOUT_MS = "40000";

const name = process.env["PROBE_CONTAINER"] ?? "";
try {
  await putInPlace(name);
  await ask();
  await dropFormer(name);
} catch (error) {
  const end = await goBack(name).catch((failure: unknown) => {
    return `The version before could not be put back: ${textOf(failure)}`;
  });
  process.stderr.write(`${textOf(error)}\n${end}\n`);
  process.exitCode = 1;
}

async function ask(): Promise<void> {
  const before = await inspectContainer(formerName(name));
  const timeout = before === undefined ? {} : { PROBE_TIMEOUT_MS: TIMEOUT_MS };
  const { url, close } = await openTunnel(process.env["PROBE_URL"] ?? "", process.env["DOCKER_HOST"]);
  const env = { ...timeout, ...process.env, PROBE_URL: url };
  const input = process.env["PROBE_CHANNELS"] || process.env["PROBE_ALERTS"] ? await text(process.stdin) : "";
  const asked = await run(process.execPath, [PROBE], { env, input }).finally(close);
  process.stdout.write(asked.stdout);
  if (asked.code !== 0) throw new Error(asked.stderr.trimEnd());
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
