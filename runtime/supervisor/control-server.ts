import type { IncomingMessage, ServerResponse } from "node:http";
import { PROBLEM_TYPE } from "../contract/problem.ts";
import { createServer } from "../process/http.ts";
import { closeServer, openServer } from "../process/server.ts";
import type { Control } from "./control.ts";

/** A control API that listens. */
export interface ControlServer {
  port: number;
  /** Takes no new connections and cuts the open ones after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * Serves the control API. On Node's plain server: a framework would double what the supervisor weighs,
 * and the gateway's start waits for it.
 *
 * @throws StewardError `port_in_use` where another process holds the port.
 */
export async function serveControl(control: Control, hostname: string, port: number): Promise<ControlServer> {
  const server = createServer((request, response) => {
    // No route reads a body.
    request.resume();
    void answer(control, request, response);
  });
  return { port: await openServer(server, hostname, port), close: (graceMs) => closeServer(server, graceMs) };
}

async function answer(control: Control, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url: path = "/", headers } = request;
  const { status, value } = await control({ method, path, authorization: headers.authorization });
  const type = status < 400 ? "application/json" : PROBLEM_TYPE;
  response.writeHead(status, { "content-type": type }).end(JSON.stringify(value));
}
