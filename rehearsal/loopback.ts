import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

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
  server.listen(port, host);
  await once(server, "listening");
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
