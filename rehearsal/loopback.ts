import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** This machine alone. */
export const LOOPBACK = "127.0.0.1";

/** A server that listens on this machine alone. */
export interface LoopbackServer {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  url: string;
  /** Ends every connection, then resolves. */
  close(): Promise<void>;
}

/** Lets a server listen on 127.0.0.1; port 0 takes a free one. Rejects where the port is taken. */
export async function listenOnLoopback(
  server: Server,
  port: number,
  host = LOOPBACK,
): Promise<LoopbackServer> {
  // Connections that were taken over, as a WebSocket's are, belong to no request: `closeAllConnections` leaves them.
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
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
