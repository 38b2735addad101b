import { CHAT_CLOSE } from "../contract/chat.ts";

/** The common interface of Cloudflare's WebSocket and Node's `ws`. */
export interface PageSocket {
  readonly readyState: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(
    type: "close" | "error",
    listener: (event: { code?: number | undefined; reason?: string | undefined }) => void,
  ): void;
}

const OPEN = 1;

export function sendIfOpen(socket: PageSocket, data: unknown): void {
  if (socket.readyState === OPEN) socket.send(String(data));
}

/** Closes a socket. Replaces reserved codes such as 1006 with `restart`, so that the page reconnects. */
export function closeSocket(socket: PageSocket, code = 1006, reason = ""): void {
  const sent = code >= 1000 && ![1004, 1005, 1006, 1015].includes(code);
  try {
    socket.close(sent ? code : CHAT_CLOSE.restart, reason);
  } catch {
    // The connection is already lost.
  }
}

interface SocketHooks {
  onPage?(data: unknown): void;
  onGateway?(data: unknown): void;
  /**
   * Called when either socket closes. `code` is the gateway's close code; `undefined` if the page's socket closed.
   */
  onEnd?(code: number | undefined): void;
}

/** Forwards messages between a page and its gateway, and closes both sockets together. */
export function joinSockets(page: PageSocket, gateway: PageSocket, told: SocketHooks = {}): void {
  // The page's socket closed while the gateway was starting.
  if (page.readyState > OPEN) return closeSocket(gateway, 1001);
  page.addEventListener("message", ({ data }) => {
    told.onPage?.(data);
    sendIfOpen(gateway, data);
  });
  gateway.addEventListener("message", ({ data }) => {
    sendIfOpen(page, data);
    told.onGateway?.(data);
  });
  for (const [from, to] of [
    [page, gateway],
    [gateway, page],
  ] as const) {
    const end = ({ code, reason }: { code?: number | undefined; reason?: string | undefined }): void => {
      told.onEnd?.(from === gateway ? code : undefined);
      closeSocket(to, code, reason);
    };
    from.addEventListener("close", end);
    from.addEventListener("error", end);
  }
}
