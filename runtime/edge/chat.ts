import type { Handler } from "hono";
import { type ChatFileRequest, GATEWAY_ROUTES } from "../contract/control.ts";
import { bearerToken } from "../shared/token.ts";
import { ChatPage, chatManifest } from "./ui/chat.tsx";
import type { Sandbox } from "./ports.ts";
import { sendProblem } from "./problems.ts";

/**
 * `GET /chat`: the chat page, identical for everyone.
 *
 * @param sandbox The sandbox that all browsers share, which this page wakes; `undefined` if browsers have separate
 * sandboxes.
 */
export function chat(sandbox: Sandbox | undefined): Handler {
  return async function handleChat(context) {
    await sandbox?.wake("visitor");
    context.header("content-security-policy", chatContentSecurityPolicy(new URL(context.req.url).host));
    return context.html(ChatPage());
  };
}

/** `GET /chat/manifest`: lets browsers install the chat as an app. Does not wake the container. */
export function chatApp(): Handler {
  return function handleChatApp(context) {
    return context.json(chatManifest(), 200, { "content-type": "application/manifest+json" });
  };
}

/** `GET /chat/socket` without an upgrade: responds 426. Upgrades are handled before they reach this app. */
export function chatSocket(): Handler {
  return function handleChatSocket() {
    return sendProblem("chat_upgrade_required");
  };
}

/** Format of a ticket: a device id and 32 random bytes. */
const TICKET = /^(?<device>[0-9a-f]{64})\.[\w-]{43}$/;
/** Format of an item id: 16 random bytes. */
const ITEM = /^[\w-]{22}$/;
/** Image types that pages may display. HTML or SVG could run scripts on this origin. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

type FileSandbox = Pick<Sandbox, "status" | "request">;

/**
 * `GET /chat/files/<item>`: serves a file that the assistant sent, without waking the container. The `Authorization`
 * header must contain a ticket.
 */
export function chatFile(sandboxOf: (deviceId: string) => Promise<FileSandbox | undefined>): Handler {
  return async function handleChatFile(context) {
    const ticket = bearerToken(context.req.header("authorization")) ?? "";
    const item = context.req.param("item") ?? "";
    const device = TICKET.exec(ticket)?.groups?.["device"];
    const sandbox = device && ITEM.test(item) ? await sandboxOf(device) : undefined;
    if (!sandbox) return sendProblem("chat_file_refused");
    const { state, reason } = await sandbox.status();
    if (state !== "ready") return sendProblem("gateway_unavailable", reason?.detail);
    const body = JSON.stringify({ ticket, item } satisfies ChatFileRequest);
    const answer = await sandbox.request("gateway", { method: "POST", path: GATEWAY_ROUTES.chatFile, body });
    const mediaType = answer.headers.get("content-type") ?? "";
    const bytes = "application/octet-stream";
    const headers = {
      "cache-control": "no-store",
      "content-security-policy": "sandbox; default-src 'none'",
      "content-disposition": "attachment",
      "content-type": PICTURES.has(mediaType) ? mediaType : bytes,
    };
    if (answer.ok) return new Response(answer.body, { headers });
    await answer.body?.cancel();
    return sendProblem(answer.status === 404 ? "chat_file_unknown" : "chat_file_refused");
  };
}

/**
 * Returns the chat page's Content-Security-Policy. It lists the socket's URL, because older browsers apply 'self' only
 * to HTTP.
 */
function chatContentSecurityPolicy(host: string): string {
  return `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://${host} wss://${host}; img-src 'self' data: blob:; manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`;
}
