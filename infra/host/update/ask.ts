import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { packageProgramFile } from "../../shell/package.ts";
import { runProcess } from "../../shell/process.ts";
import { printError } from "../../../runtime/shared/terminal.ts";

const PROBE = packageProgramFile("infra/readiness/probe");
/** Timeout of the probe in milliseconds. It is short, so that the previous version is restored soon. */
const TIMEOUT_MS = "40000";

export interface ServiceQuestions {
  probe: Readonly<Record<string, string>>;
  /** Signs requests restricted to the stack. */
  key: string;
  /** Docker host address. Default: the `docker` command's. */
  dockerHost?: string | undefined;
  /** True if a rollback is possible. */
  hasPrevious: boolean;
}

/**
 * Probes the service until every check passes.
 *
 * @returns the probe's report, one line per check. @throws Error with the failed checks and the container's last log
 * lines.
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

interface Tunnel {
  /** Address as reachable from this machine. */
  url: string;
  close(): void;
}

/**
 * Returns an address at which the container's port is reachable. For an `ssh://` engine, opens a tunnel, because the
 * engine may publish the port only on its loopback interface.
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
