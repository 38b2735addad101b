import type { Response as PlatformResponse } from "@cloudflare/workers-types/index.ts";
import { BROWSER_HEADER, browserHeader, isOwnPage } from "../contract/chat.ts";
import { StewardError } from "../contract/errors.ts";
import { AGENT } from "../contract/names.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { ROUTES } from "../contract/routes.ts";
import { tenantOfBrowser } from "../contract/tenant.ts";
import type { ChatRelay } from "../edge/chat-relay.ts";
import { joinSockets } from "../edge/page-sockets.ts";
import { receiveBrowser } from "../edge/tenants/browser-door.ts";
import type { WorkerEnvironment } from "./environment.ts";
import { unwrap } from "./rpc.ts";

/**
 * Headers that the Worker passes to the gateway. The gateway trusts them because each request carries the control
 * token.
 */
const PASSED = ["origin", "x-forwarded-host", "x-forwarded-for", BROWSER_HEADER];

/** Header of the Durable Object's response if the object refuses to start the container for a chat page. */
export const WAKE_REFUSED = "x-steward-wake-refused";

type Upgrade = (path: string, headers: Record<string, string>) => Promise<PlatformResponse>;

/**
 * Opens a chat page's WebSocket, or returns the gateway's refusal. Hibernation is not used, because a running
 * container keeps the object in memory.
 */
export async function openChat(chat: ChatRelay, upgrade: Upgrade, headers: Headers): Promise<Response> {
  const passed = PASSED.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  let answer: PlatformResponse;
  try {
    answer = await upgrade(ROUTES.chatSocket.path, Object.fromEntries(passed));
  } catch {
    // The gateway was ready a moment ago, so it is stopping or restarting.
    const document = problem("gateway_unavailable", "The gateway did not answer.");
    return problemResponse(document, { "retry-after": "5" });
  }
  const gateway = answer.webSocket;
  if (gateway === null) return answer as unknown as Response;
  const { 0: client, 1: page } = new WebSocketPair();
  chat.join(page, gateway);
  gateway.accept();
  page.accept();
  return new Response(null, { status: 101, webSocket: client } as ResponseInit);
}

/** Returns true if a request opens a chat page's WebSocket. Such a request bypasses the edge. */
export function isChatUpgrade(request: Request): boolean {
  const { method, path } = ROUTES.chatSocket;
  const upgrade = request.headers.get("upgrade")?.toLowerCase();
  return request.method === method && upgrade === "websocket" && new URL(request.url).pathname === path;
}

/**
 * Connects a chat page to its gateway. Refuses another site's page, so that it cannot wake the container. Of the
 * page's headers, forwards only `origin`, so that a page cannot forge the edge's headers.
 *
 * If one sandbox serves every chat, its gateway decides which browsers to admit. A known browser that proves
 * possession of its key can wake the container even when visitors may not.
 */
export async function proxyChat(
  request: Request,
  { SANDBOX, DIRECTORY }: WorkerEnvironment,
): Promise<Response> {
  const { host } = new URL(request.url);
  const origin = request.headers.get("origin") ?? undefined;
  if (origin === undefined || !isOwnPage(origin, host))
    return problemResponse(problem("chat_origin_refused"));
  // Cloudflare sets this header itself, so the page cannot forge it:
  // https://developers.cloudflare.com/fundamentals/reference/http-headers/#cf-connecting-ip
  const remoteIp = request.headers.get("cf-connecting-ip") ?? "";
  const headers = { upgrade: "websocket", origin, "x-forwarded-host": host, "x-forwarded-for": remoteIp };
  const ask = (name: string, named: Record<string, string> = {}): Promise<Response> =>
    SANDBOX.getByName(name).fetch(new Request(request.url, { headers: { ...headers, ...named } }));
  if (DIRECTORY === undefined) {
    const answer = await ask(AGENT);
    if (!answer.headers.has(WAKE_REFUSED)) return answer;
    await answer.body?.cancel();
  }
  const { 0: client, 1: page } = new WebSocketPair();
  page.accept();
  receiveBrowser(page, {
    origin,
    remoteIp,
    async enter(device, known) {
      if (DIRECTORY !== undefined) return unwrap(DIRECTORY.getByName(AGENT).enter(device, known));
      // Only a running gateway can admit an unknown browser.
      if (!(await unwrap(SANDBOX.getByName(AGENT).wakeFor(device.deviceId))))
        throw new StewardError("gateway_unavailable");
      return { kind: "paired", device: { ...device, scopes: [] } };
    },
    async open(browser) {
      const answer = await (DIRECTORY === undefined
        ? ask(AGENT)
        : ask(tenantOfBrowser(browser.deviceId), { [BROWSER_HEADER]: browserHeader(browser) }));
      const { webSocket: gateway } = answer as unknown as PlatformResponse;
      if (gateway === null) {
        await answer.body?.cancel();
        return false;
      }
      joinSockets(page, gateway);
      gateway.accept();
      return true;
    },
  });
  return new Response(null, { status: 101, webSocket: client } as ResponseInit);
}
