import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve, type ServerType } from "@hono/node-server";
import type { Hono } from "hono";

/** Where a stand-in listens. Port 0 takes a free one. */
export interface ListenOptions {
  /** Loopback, or the container network's gateway address where a container has to reach it. */
  hostname: string;
  port: number;
}

/** A running server. */
export interface Listening {
  /** `http://host:port`, without a slash at the end. */
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Serves an app and resolves once it listens. Rejects where the port is taken. */
export async function listen(app: Hono, { hostname, port }: ListenOptions): Promise<Listening> {
  const server: ServerType = serve({ fetch: app.fetch, hostname, port });
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${hostname}:${address.port}`,
    port: address.port,
    async close() {
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}
