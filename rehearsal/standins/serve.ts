import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { serve, type ServerType } from "@hono/node-server";
import type { Hono } from "hono";

const QUIET_MS = 100;
const LOOKS = 4;

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
  /** Resolves when all requests are dealt with, and none has come for a tenth of a second. */
  quiet(): Promise<void>;
  /** Lets the process end while the server still listens. */
  unref(): void;
  close(): Promise<void>;
}

/** Takes a connection that asks for another protocol. */
type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Serves an app and resolves once it listens. Rejects where the port is taken. */
export async function listen(
  app: Hono,
  { hostname, port }: ListenOptions,
  onUpgrade?: Upgrade,
): Promise<Listening> {
  const answers = new Set<Promise<unknown>>();
  let lastAt = performance.now();
  const answer: typeof app.fetch = (...request) => {
    const made = Promise.resolve(app.fetch(...request)).finally(() => answers.delete(made));
    answers.add(made);
    lastAt = performance.now();
    return made;
  };
  const server: ServerType = serve({ fetch: answer, hostname, port });
  if (onUpgrade !== undefined) server.on("upgrade", onUpgrade);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  const url = `http://${hostname}:${address.port}`;
  return {
    url,
    port: address.port,
    async quiet() {
      // Several looks in a row: on a busy machine a timer may come before a request that waits on its socket.
      for (let looks = 0; looks < LOOKS; looks += 1) {
        if (answers.size > 0 || performance.now() - lastAt < QUIET_MS) looks = 0;
        await Promise.allSettled(answers);
        await sleep(QUIET_MS / 10);
      }
    },
    unref: () => void server.unref(),
    async close() {
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}
