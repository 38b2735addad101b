import { isOwnPage } from "../contract/chat.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { ROUTES } from "../contract/routes.ts";
import type { ChatDoor } from "./environment.ts";

/** Whether a request opens a chat page's socket. Such a one is taken on before the edge, as on a host. */
export function opensChat(request: Request): boolean {
  const { method, path } = ROUTES.chatSocket;
  const upgrade = request.headers.get("upgrade")?.toLowerCase();
  return request.method === method && upgrade === "websocket" && new URL(request.url).pathname === path;
}

/**
 * Hands a chat page's connection on to the Durable Object, with the host that it was asked of and the address
 * that it came from. Another site's page is refused here, so that it cannot wake the container. Of the page's own
 * headers only the origin goes on: it must not speak for the edge.
 */
export async function proxyChat(request: Request, object: ChatDoor): Promise<Response> {
  const { host } = new URL(request.url);
  const origin = request.headers.get("origin") ?? undefined;
  if (origin === undefined || !isOwnPage(origin, host))
    return problemResponse(problem("chat_origin_refused"));
  const headers = {
    upgrade: "websocket",
    origin,
    "x-forwarded-host": host,
    // Cloudflare sets it itself: https://developers.cloudflare.com/fundamentals/reference/http-headers/#cf-connecting-ip
    "x-forwarded-for": request.headers.get("cf-connecting-ip") ?? "",
  };
  return object.fetch(new Request(request.url, { headers }));
}
