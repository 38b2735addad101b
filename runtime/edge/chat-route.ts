import type { Handler } from "hono";
import { chatContentSecurityPolicy, chatPage } from "./pages/chat.ts";
import type { Sandbox } from "./ports.ts";
import { sendProblem } from "./problems.ts";

/** `GET /chat`: the page, the same for everyone; it wakes a sleeping container as a visit to `/` does. */
export function chat(sandbox: Sandbox): Handler {
  return async function handleChat(context) {
    await sandbox.wake("visitor");
    context.header("content-security-policy", await chatContentSecurityPolicy(new URL(context.req.url).host));
    return context.html(chatPage());
  };
}

/**
 * `GET /chat/socket` as a plain request. What asks for a WebSocket never comes here: each platform takes it on
 * before the app, which knows requests and answers only.
 */
export function chatSocket(): Handler {
  return function handleChatSocket() {
    return sendProblem("chat_upgrade_required");
  };
}
