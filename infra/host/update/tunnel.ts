import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { finished, pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { printError } from "../../../runtime/shared/terminal.ts";

const ATTEMPTS = 3;
const RETRY_AFTER_MS = 1_000;
const POLL_MS = 50;

interface Tunnel {
  /** Address as reachable from this machine. */
  url: string;
  close(): Promise<void>;
}

/**
 * Returns an address at which the container's port is reachable. For an `ssh://` engine, opens a tunnel, because the
 * engine may publish the port only on its loopback interface. If the tunnel breaks, the next connection opens it again.
 *
 * @throws Error with the output of `ssh` if it cannot connect
 */
export async function openTunnel(url: string, engine: string): Promise<Tunnel> {
  if (!engine.startsWith("ssh://")) return { url, close: async () => undefined };
  const folder = await mkdtemp(path.join(tmpdir(), "steward-tunnel-"));
  const closing = new AbortController();
  let starts = 0;

  /** Returns a new socket's path, because a shared connection does not forward an earlier one again. */
  async function start(): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const socket = path.join(folder, String(++starts));
      try {
        await forward(socket, url, engine, closing.signal);
        return socket;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
        await sleep(RETRY_AFTER_MS, undefined, { signal: closing.signal });
      }
    }
  }

  let forwarded = start();
  async function reach(): Promise<Socket> {
    const used = forwarded;
    try {
      return await connected(await used);
    } catch {
      if (forwarded === used) forwarded = start();
      return connected(await forwarded);
    }
  }

  // `ssh` would bind a port of its own only after the login, when another process may have it.
  const server = createServer((connection) => {
    connection.on("error", () => undefined);
    reach()
      .then((socket) => pipeline(connection, socket, connection))
      .catch(() => connection.destroy());
  });
  async function close(): Promise<void> {
    closing.abort();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }

  try {
    await forwarded;
    await once(server.listen(0, "127.0.0.1"), "listening");
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function forward(socket: string, url: string, engine: string, signal: AbortSignal): Promise<void> {
  const { hostname, username, port } = new URL(engine);
  const service = new URL(url);
  const words = [
    "-N",
    "-o",
    "ExitOnForwardFailure=yes",
    "-o",
    "ServerAliveInterval=5",
    "-L",
    `${socket}:${service.hostname}:${service.port || "80"}`,
    ...(username === "" ? [] : ["-l", decodeURIComponent(username)]),
    ...(port === "" ? [] : ["-p", port]),
    "--",
    hostname,
  ];
  const child = spawn("ssh", words, { stdio: ["ignore", "inherit", "pipe"], signal });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    const shown = text.replaceAll("\r", "");
    printed += shown;
    printError(shown);
  });
  child.on("error", (error) => (printed ||= error.message));
  const runs = (): boolean => child.exitCode === null && child.signalCode === null;
  while (runs() && !existsSync(socket)) await sleep(POLL_MS);
  // A shared connection forwards on after its `ssh` has ended.
  if (existsSync(socket)) return;
  // A proxy command may keep the output open.
  await Promise.race([finished(child.stderr), sleep(RETRY_AFTER_MS, undefined, { ref: false })]);
  throw new Error(`ssh cannot connect to ${hostname}: ${printed.trim()}`);
}

async function connected(file: string): Promise<Socket> {
  const socket = connect(file);
  await once(socket, "connect");
  return socket;
}
