import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens on this machine alone. */
export interface LoopbackServer {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  url: string;
  /** Ends every connection, then resolves. */
  close(): Promise<void>;
}

/** Lets a server listen on 127.0.0.1; port 0 takes a free one. Rejects where the port is taken. */
export async function listenOnLoopback(server: Server, port: number): Promise<LoopbackServer> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
