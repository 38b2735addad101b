import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below the range that systems take the ports of outgoing connections from, which come and go at any time. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Ports of loopback that were free a moment ago, all different. */
export async function freePorts(count: number): Promise<number[]> {
  // All are held open together, so that none is given twice.
  const holders = new Map<number, Server>();
  while (holders.size < count) {
    const port = randomInt(LOWEST, HIGHEST);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (isFree) holders.set(port, server);
  }
  await Promise.all([...holders.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  return [...holders.keys()];
}
