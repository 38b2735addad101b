// Starts PROBE_CONTAINER in the place of the version before, and asks as the readiness probe does. Exits as that
// does; where it fails, after the version before answers again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { programFile } from "../../shell/package.ts";
import { run } from "../../shell/process.ts";
import { inspectContainer } from "./copy.ts";
import { dropFormer, formerName, goBack, putInPlace } from "./former.ts";

const PROBE = programFile("infra/readiness/probe");
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

/** A way to an address of the engine's machine. */
interface Tunnel {
  /** The address as this machine reaches it. */
  url: string;
  close(): void;
}

/**
 * Returns how to ask the container's ports. Where the engine is reached by `ssh://`, its machine's ports are asked through the same SSH: they may be open to
 * that machine alone. Else the address is this machine's own.
 */
async function openTunnel(url: string, engine = ""): Promise<Tunnel> {
  if (!engine.startsWith("ssh://")) return { url, close: () => undefined };
  const { hostname, username, port } = new URL(engine);
  const { host: target } = new URL(url);
  const local = await freePort();
  const words = [
    "-N",
    "-o",
    "ExitOnForwardFailure=yes",
    "-L",
    `127.0.0.1:${local}:${target}`,
    ...(username === "" ? [] : ["-l", decodeURIComponent(username)]),
    ...(port === "" ? [] : ["-p", port]),
    "--",
    hostname,
  ];
  const child = spawn("ssh", words, { stdio: ["ignore", "inherit", "inherit"] });
  // Without ssh there is no way, which the questions tell that get no answer.
  child.on("error", (error) => void process.stderr.write(`${error.message}\n`));
  return { url: `http://127.0.0.1:${local}`, close: () => void child.kill() };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
