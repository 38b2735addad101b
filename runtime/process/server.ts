import type { Server } from "node:http";
import { StewardError } from "../contract/errors.ts";

/**
 * Lets a server listen. Port 0 takes any free one.
 *
 * @returns the port. @throws StewardError `port_in_use` where another process holds it.
 */
export async function openServer(server: Server, hostname: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      const detail = `Port ${port} on ${hostname} is already in use by another process.`;
      reject(taken ? new StewardError("port_in_use", detail, { cause: error }) : error);
    });
    server.listen(port, hostname, resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

/** Takes no new connections, lets open requests end within `graceMs`, then cuts them. */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
