import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { CONFIG_LIMIT_BYTES, CONTROL_ROUTES, MANIFEST_HEADER } from "../contract/control.ts";
import { PROBLEM_TYPE } from "../contract/problem.ts";
import { closeServer, KEEP_ALIVE_MS, openServer } from "../process/server.ts";
import type { Control, ControlAnswer } from "./control-request.ts";

const ARCHIVE_TYPE = "application/zstd";
/**
 * Maximum length of a request body, in characters. The number is a config file's size limit in bytes, so every
 * permitted config file fits: a file never has more characters than bytes.
 */
const LONGEST_BODY = CONFIG_LIMIT_BYTES;

export interface ControlServer {
  port: number;
  /** Refuses new connections, and ends existing ones after `graceMs` milliseconds. */
  close(graceMs: number): Promise<void>;
}

/**
 * Serves the control API with Node's plain server, because a framework would delay the gateway's start.
 *
 * @throws StewardError `inner_port_in_use` if another process holds the port.
 */
export async function serveControl(control: Control, hostname: string, port: number): Promise<ControlServer> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    // The connection is broken, so no response can be sent.
    answer(control, request, response).catch(() => response.destroy());
  });
  const opened = await openServer(server, { hostname, port, taken: "inner_port_in_use" });
  return { port: opened, close: (graceMs) => closeServer(server, graceMs) };
}

async function answer(control: Control, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url: path = "/", headers } = request;
  const { authorization, [MANIFEST_HEADER]: manifest } = headers;
  const asked = { method, path, authorization };
  const takesArchive = method === "POST" && path.split("?")[0] === CONTROL_ROUTES.restore;
  // If the reader stops early, the connection must stay open for the answer.
  const content = (): AsyncIterable<Uint8Array> => request.iterator({ destroyOnReturn: false });
  const answered = takesArchive
    ? await control({ ...asked, content: content(), manifest: manifest?.toString() })
    : await control({ ...asked, body: await readBody(request) });
  await send(answered, response);
}

async function send(answered: ControlAnswer, response: ServerResponse): Promise<void> {
  const { status } = answered;
  if ("content" in answered) {
    response.writeHead(status, { "content-type": ARCHIVE_TYPE, "content-length": answered.size });
    await pipeline(answered.content, response);
  } else if (status === 204) {
    response.writeHead(status).end();
  } else {
    const type = status < 400 ? "application/json" : PROBLEM_TYPE;
    response.writeHead(status, { "content-type": type }).end(JSON.stringify(answered.value));
  }
}

/** Reads the whole body. For an oversized body, returns an empty string, which no route accepts. */
async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  let length = 0;
  for await (const text of request.setEncoding("utf8")) {
    length += String(text).length;
    body = length > LONGEST_BODY ? "" : body + String(text);
  }
  return body;
}
