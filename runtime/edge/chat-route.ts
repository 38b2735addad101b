import type { Handler } from "hono";
import { chatContentSecurityPolicy, chatPage } from "./pages/chat.ts";
import { sendProblem } from "./problems.ts";

/** `GET /chat`: the page, the same for everyone. */
export function chat(): Handler {
  return async function handleChat(context) {
    context.header("content-security-policy", await chatContentSecurityPolicy(new URL(context.req.url).host));
    return context.html(chatPage());
  };
}

/**
 * `GET /chat/socket` where nobody has taken the upgrade on before the app: a plain request, or a target
 * that does not connect chat pages.
 */
export function chatSocket(): Handler {
  return function handleChatSocket(context) {
    const upgrade = context.req.header("upgrade")?.toLowerCase() === "websocket";
    return sendProblem(upgrade ? "chat_not_served" : "chat_upgrade_required");
  };
}
