import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { type AdmittedBrowser, CHAT_CLOSE, CHAT_MESSAGE_BYTES, isOwnPage } from "../../contract/chat.ts";
import { networkOf } from "../../contract/client.ts";
import { problem } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { PageSocket } from "../../edge/page-sockets.ts";
import { receiveBrowser } from "../../edge/tenants/browser-door.ts";
import { refuseConnection } from "../../process/server.ts";
import type { DeviceEntry, NewDevice } from "../../shared/devices.ts";
import { chooseEvicted } from "../../shared/strangers.ts";

/** Maximum time, in milliseconds, to wait for a page to acknowledge that its connection is closed. */
const CLOSE_MS = 1_000;

export interface BrowserGateways {
  /** See `Devices.enter`. */
  enter(device: NewDevice, known?: string): Promise<DeviceEntry>;
  /**
   * Starts a browser's gateway and connects a page to it.
   *
   * @returns false if the gateway does not answer
   */
  join(browser: AdmittedBrowser, page: PageSocket, headers: Record<string, string>): Promise<boolean>;
}

interface Stranger {
  network: string;
  socket: WebSocket;
}

/** Returns the handler for chat pages' connections in deployments with one gateway per browser. */
export function browserPages(browsers: BrowserGateways) {
  const strangers = new Set<Stranger>();
  let server: WebSocketServer | undefined;

  const makeRoom = (network: string): void => {
    const oldest = chooseEvicted([...strangers], { network });
    if (oldest === undefined) return;
    strangers.delete(oldest);
    oldest.socket.close(CHAT_CLOSE.full, "replaced by a newer connection");
    setTimeout(() => oldest.socket.terminate(), CLOSE_MS).unref();
  };

  return async function open(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    const { origin, host = "" } = request.headers;
    if (request.url !== ROUTES.chatSocket.path) return refuseConnection(connection, problem("not_found"));
    if (origin === undefined || !isOwnPage(origin, host))
      return refuseConnection(connection, problem("chat_origin_refused"));
    const { WebSocketServer: Server } = await import("../ws.ts");
    server ??= new Server({ noServer: true, maxPayload: CHAT_MESSAGE_BYTES, perMessageDeflate: false });
    if (connection.destroyed) return;
    const remoteIp = request.socket.remoteAddress ?? "";
    server.handleUpgrade(request, connection, head, (socket) => {
      const network = networkOf(remoteIp);
      makeRoom(network);
      const stranger = { network, socket };
      strangers.add(stranger);
      socket.on("close", () => strangers.delete(stranger));
      // The WebSocket library has its own event types, whose fields match the standard.
      const page = socket as unknown as PageSocket;
      const headers = { origin, "x-forwarded-host": host, "x-forwarded-for": remoteIp };
      receiveBrowser(page, {
        origin,
        remoteIp,
        enter: (...asked) => browsers.enter(...asked),
        async open(browser) {
          strangers.delete(stranger);
          return browsers.join(browser, page, headers);
        },
      });
    });
  };
}

export async function openGatewaySocket(
  port: number,
  headers: Record<string, string>,
  onOpen: (socket: PageSocket) => void,
): Promise<void> {
  const { WebSocket: Socket } = await import("../ws.ts");
  const socket = new Socket(`ws://127.0.0.1:${port}${ROUTES.chatSocket.path}`, {
    headers,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    // The first message may arrive with the response, so listeners must be added in this callback.
    socket.once("open", () => {
      onOpen(socket as unknown as PageSocket);
      resolve();
    });
    socket.once("error", reject);
  });
}
