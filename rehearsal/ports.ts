import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below the range that systems take the ports of outgoing connections from, which come and go at any time. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Long enough for a process to start and to listen on the port that was chosen for it. */
const RESERVED_MS = 60_000;

/** Ports of loopback that were free a moment ago. None is given twice within a minute, on Linux not to another process either. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if ((await reserve(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

const reserved = new Set<number>();

/** Reserves a port, if nobody has. On Linux a socket's abstract name shows it to every process, and ends with this one. */
async function reserve(port: number): Promise<boolean> {
  if (reserved.has(port)) return false;
  reserved.add(port);
  const holder =
    process.platform === "linux" ? createServer().listen(`\0steward-port-${port}`).unref() : undefined;
  const isOurs = holder === undefined || (await listening(holder)) !== undefined;
  const release = (): void => {
    holder?.close();
    reserved.delete(port);
  };
  setTimeout(release, isOurs ? RESERVED_MS : 0).unref();
  return isOurs;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening(createServer().listen(port, "127.0.0.1"));
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  return server !== undefined;
}

function listening(server: Server): Promise<Server | undefined> {
  return once(server, "listening").then(
    () => server,
    () => undefined,
  );
}
