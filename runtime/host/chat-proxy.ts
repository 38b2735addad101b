import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { problem } from "../contract/problem.ts";
import { ROUTES } from "../contract/routes.ts";
import { endSocket, refuseConnection } from "../process/server.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";

/** Request headers passed to the gateway: those that open a WebSocket (RFC 6455 section 4.1) and the origin. */
const PASSED = [
  "host",
  "origin",
  "connection",
  "upgrade",
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-extensions",
];

export interface ChatProxyOptions {
  supervisor: Pick<Supervisor, "status">;
  gatewayPort: number;
  controlToken: string;
}

/**
 * Relays a chat page's connection to the gateway, which checks the device. Adds the client's address to the request.
 */
export function chatProxy({ supervisor, gatewayPort, controlToken }: ChatProxyOptions) {
  return async function proxyChat(request: IncomingMessage, page: Duplex, head: Buffer): Promise<void> {
    if (request.url !== ROUTES.chatSocket.path) return refuseConnection(page, problem("not_found"));
    const { state, reason } = supervisor.status();
    if (state !== "ready") return refuseConnection(page, problem("gateway_unavailable", reason?.detail));
    const gateway = connect(gatewayPort, "127.0.0.1");
    let connected = false;
    gateway.on("connect", () => {
      connected = true;
      gateway.write(requestHead(request, controlToken));
      gateway.write(head);
      page.pipe(gateway).pipe(page);
    });
    gateway.on("error", () => {
      if (connected) page.destroy();
      else refuseConnection(page, problem("gateway_unavailable", "The gateway did not answer."));
    });
    gateway.on("close", () => connected && endSocket(page));
    page.on("close", () => gateway.destroy());
  };
}

function requestHead({ headers, socket }: IncomingMessage, controlToken: string): string {
  const passed = PASSED.flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [`${name}: ${value}`] : [];
  });
  const own = [
    `authorization: Bearer ${controlToken}`,
    `x-forwarded-host: ${headers.host ?? ""}`,
    `x-forwarded-for: ${socket.remoteAddress ?? ""}`,
  ];
  return `GET ${ROUTES.chatSocket.path} HTTP/1.1\r\n${[...passed, ...own].join("\r\n")}\r\n\r\n`;
}
