import { once } from "node:events";
import { get } from "node:http";
import type { AddressInfo, Socket } from "node:net";
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
  /** Resolves when every connection of now has ended, and all that came over them is dealt with. */
  disconnected(): Promise<void>;
  close(): Promise<void>;
}

/** Serves an app and resolves once it listens. Rejects where the port is taken. */
export async function listen(app: Hono, { hostname, port }: ListenOptions): Promise<Listening> {
  const connections = new Set<Socket>();
  const answers = new Set<Promise<unknown>>();
  const answer: typeof app.fetch = (...request) => {
    const made = Promise.resolve(app.fetch(...request)).finally(() => answers.delete(made));
    answers.add(made);
    return made;
  };
  const server: ServerType = serve({ fetch: answer, hostname, port });
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  const url = `http://${hostname}:${address.port}`;
  return {
    url,
    port: address.port,
    async disconnected() {
      // Connections are accepted in the order of their arrival: with this one all before it are known.
      await once(get(url, { agent: false }), "response").then(([response]) => response.resume());
      await Promise.all([...connections].map((socket) => new Promise((done) => socket.once("close", done))));
      await Promise.allSettled(answers);
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}
