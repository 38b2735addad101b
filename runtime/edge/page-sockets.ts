import { CHAT_CLOSE } from "../contract/chat.ts";

/** A WebSocket, as the platform and Node's library have it. */
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

/** Sends a message, unless the socket is not open any more. */
export function sendOn(socket: PageSocket, data: unknown): void {
  if (socket.readyState === OPEN) socket.send(String(data));
}

/** Closes a socket. A code that cannot be sent, such as 1006, becomes `restart`, so that the page reconnects. */
export function closeSocket(socket: PageSocket, code = 1006, reason = ""): void {
  const sent = code >= 1000 && ![1004, 1005, 1006, 1015].includes(code);
  try {
    socket.close(sent ? code : CHAT_CLOSE.restart, reason);
  } catch {
    // The socket was lost meanwhile.
  }
}

/** Callbacks for what passes between two joined sockets. */
interface Passing {
  onPage?(data: unknown): void;
  onGateway?(data: unknown): void;
  /** Either socket has closed; `code` is that of the gateway's end. */
  onEnd?(code: number | undefined): void;
}

/** Forwards messages and the close between a page's socket and its gateway's, in both directions. */
export function joinSockets(page: PageSocket, gateway: PageSocket, told: Passing = {}): void {
  // The page closed while the gateway started.
  if (page.readyState > OPEN) return closeSocket(gateway, 1001);
  page.addEventListener("message", ({ data }) => {
    told.onPage?.(data);
    sendOn(gateway, data);
  });
  gateway.addEventListener("message", ({ data }) => {
    sendOn(page, data);
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
