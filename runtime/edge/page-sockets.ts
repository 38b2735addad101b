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

/** Closes a socket. Some codes cannot be sent: they mean that the other end was lost, and its page may reconnect. */
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
  /** One of them has ended, with this code. */
  onEnd?(code: number | undefined): void;
}

/** Passes each message of a page's socket on to its gateway's and the other way, and the end of one to the other. */
export function joinSockets(page: PageSocket, gateway: PageSocket, told: Passing = {}): void {
  // The page was closed while its gateway was sought.
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
      told.onEnd?.(code);
      closeSocket(to, code, reason);
    };
    from.addEventListener("close", end);
    from.addEventListener("error", end);
  }
}
