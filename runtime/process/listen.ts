import { createServer } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { StewardError } from "../contract/errors.ts";

/** A server that listens. */
export interface Listening {
  port: number;
  /** Takes no new connections, lets open requests end within `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** What to serve, and where. */
export interface ListenOptions {
  fetch(request: Request): Response | Promise<Response>;
  hostname: string;
  /** 0 takes any free port. */
  port: number;
}

/**
 * Serves a fetch handler over HTTP.
 *
 * @throws StewardError `port_in_use` where another process holds the port.
 */
export async function listen({ fetch, hostname, port }: ListenOptions): Promise<Listening> {
  const server = createAdaptorServer({ fetch, createServer, overrideGlobalObjects: false });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      const detail = `Port ${port} on ${hostname} is already in use by another process.`;
      reject(taken ? new StewardError("port_in_use", detail, { cause: error }) : error);
    });
    server.listen(port, hostname, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: (graceMs) =>
      new Promise((resolve) => {
        const cut = setTimeout(
          () => "closeAllConnections" in server && server.closeAllConnections(),
          graceMs,
        );
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        if ("closeIdleConnections" in server) server.closeIdleConnections();
      }),
  };
}
