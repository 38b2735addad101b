import type { Server } from "node:http";
import { StewardError } from "../contract/errors.ts";

/** The error if another process holds the port: of the edge, or of what only the edge speaks to. */
export type PortTaken = "port_in_use" | "inner_port_in_use";

/**
 * Lets a server listen. Port 0 takes any free one.
 *
 * @returns the port.
 * @throws StewardError `taken` if another process holds it.
 */
export async function openServer(
  server: Server,
  { hostname, port, taken }: { hostname: string; port: number; taken: PortTaken },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      const detail = `Port ${port} on ${hostname} is already in use by another process.`;
      reject(isTaken ? new StewardError(taken, detail, { cause: error }) : error);
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
