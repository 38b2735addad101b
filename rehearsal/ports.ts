import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";

/** Lowest port to choose. The range up to {@link HIGHEST} excludes ephemeral ports. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Long enough for a stack to be deployed, stopped and started again. */
const RESERVED_MS = 30 * 60_000;

/** Returns ports that are free on every interface, reserved for half an hour. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if ((await reserve(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

const reserved = new Set<number>();

/** Reserves a port; returns false if it is reserved. On Linux, an abstract socket shows this to all processes. */
export async function reserve(port: number): Promise<boolean> {
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
  if (server === undefined) return false;
  // A server may listen only on Docker's bridge.
  const addresses = Object.values(networkInterfaces()).flatMap((one = []) => one);
  const others = addresses.filter(({ family, internal }) => family === "IPv4" && !internal);
  const taken = await Promise.all(others.map(({ address }) => listens(port, address)));
  return !taken.includes(true);
}

/** Returns true if a server accepts connections. */
export function listens(port: number, host = "127.0.0.1"): Promise<boolean> {
  const socket = connect(port, host);
  return once(socket, "connect")
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

function listening(server: Server): Promise<Server | undefined> {
  return once(server, "listening").then(
    () => server,
    () => undefined,
  );
}
