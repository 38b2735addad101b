import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { KEEP_ALIVE_MS } from "../runtime/process/server.ts";

export const LOOPBACK = "127.0.0.1";

export interface LoopbackServer {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  url: string;
  /** Destroys all connections, then resolves. */
  close(): Promise<void>;
}

/** Starts a server on a local address. Port 0 picks a free port. Rejects if the port is taken. */
export async function listenOnLoopback(
  server: Server,
  port: number,
  host = LOOPBACK,
): Promise<LoopbackServer> {
  // Track the connections, because `closeAllConnections` skips upgraded ones such as WebSockets.
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, host);
  await once(server, "listening");
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
