import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** A way to an address of the engine's machine. */
export interface Tunnel {
  /** The address as this machine reaches it. */
  url: string;
  close(): void;
}

/**
 * Where the engine is reached by `ssh://`, its machine's ports are asked through the same SSH: they may be open to
 * that machine alone. Else the address is this machine's own.
 */
export async function openTunnel(url: string, engine = ""): Promise<Tunnel> {
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
