import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { packageProgramFile } from "../../shell/package.ts";
import { runProcess } from "../../shell/process.ts";
import { printError } from "../../../runtime/shared/terminal.ts";

const PROBE = packageProgramFile("infra/readiness/probe");
/**
 * Shorter than the probe's default, because the previous version has to be restored if the new one does not respond.
 */
const TIMEOUT_MS = "40000";

/** Options of {@link askService}. */
export interface ServiceQuestions {
  /** Variables of the readiness probe. */
  probe: Readonly<Record<string, string>>;
  /** Signs the questions that only the stack may ask. */
  key: string;
  /** The engine's address; by default the one that the `docker` command uses. */
  dockerHost?: string | undefined;
  /** There is a version to go back to. */
  hasPrevious: boolean;
}

/**
 * Asks the service until it answers as it should.
 *
 * @returns the probe's report, a line for each check. @throws Error with what did not answer, and the container's last lines.
 */
export async function askService({ probe, key, dockerHost, hasPrevious }: ServiceQuestions): Promise<string> {
  const engine = dockerHost ?? process.env["DOCKER_HOST"] ?? "";
  const { url, close } = await openTunnel(probe["PROBE_URL"] ?? "", engine);
  const env = {
    ...(hasPrevious && { PROBE_TIMEOUT_MS: TIMEOUT_MS }),
    ...process.env,
    ...probe,
    ...(dockerHost && { DOCKER_HOST: dockerHost }),
    PROBE_URL: url,
  };
  const asked = await runProcess(process.execPath, [PROBE], { env, input: key }).finally(close);
  if (asked.code !== 0) throw new Error(asked.stderr.trimEnd());
  return asked.stdout.trimEnd();
}

/** A connection to an address of the engine's machine. */
interface Tunnel {
  /** The address as this machine reaches it. */
  url: string;
  close(): void;
}

/**
 * Returns a way to the container's port. An engine behind `ssh://` publishes it on its own machine, maybe on loopback
 * alone, so the questions go through the same SSH.
 */
async function openTunnel(url: string, engine: string): Promise<Tunnel> {
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
  // Without ssh the questions get no answer, and the probe says so.
  child.on("error", (error) => printError(`${error.message}\n`));
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
