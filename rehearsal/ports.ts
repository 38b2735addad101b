import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Lowest port to choose. The range up to {@link HIGHEST} excludes ephemeral ports. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Duration of a reservation: enough for a process to start listening. */
const RESERVED_MS = 60_000;

/** Returns free loopback ports, reserved for a minute. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if ((await reserve(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

const reserved = new Set<number>();

/**
 * Reserves a port; returns false if it is taken. On Linux, an abstract socket makes the reservation visible to all
 * processes.
 */
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
