import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { serve, type ServerType } from "@hono/node-server";
import type { Hono } from "hono";
import { KEEP_ALIVE_MS } from "../../runtime/process/server.ts";

const QUIET_MS = 100;
const LOOKS = 4;

/** Port 0 picks a free one. */
export interface ListenOptions {
  /** Address to listen on: loopback, or the container network's gateway if containers must reach the server. */
  hostname: string;
  port: number;
}

export interface Listening {
  /** `http://host:port`, without a trailing slash. */
  url: string;
  port: number;
  /** Resolves when all requests are finished and no request has arrived for 100 ms. */
  quiet(): Promise<void>;
  unref(): void;
  close(): Promise<void>;
}

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Rejects if the port is taken. */
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
  const server: ServerType = serve({
    fetch: answer,
    hostname,
    port,
    serverOptions: { keepAliveTimeout: KEEP_ALIVE_MS },
  });
  if (onUpgrade !== undefined) server.on("upgrade", onUpgrade);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  const url = `http://${hostname}:${address.port}`;
  return {
    url,
    port: address.port,
    async quiet() {
      // Check several times for waiting requests: on a busy machine the timer may fire before a request is read from
      // its socket.
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
