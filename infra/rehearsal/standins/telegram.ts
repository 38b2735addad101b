import { Hono } from "hono";
import { listen, type Listening, type ListenOptions } from "./serve.ts";

/** Options of {@link startTelegram}. */
export interface TelegramOptions extends ListenOptions {
  botToken: string;
}

/**
 * Stands in for Telegram's Bot API (https://core.telegram.org/bots/api): `getMe`, `setWebhook`,
 * `deleteWebhook`, `getWebhookInfo`, `getUpdates` (always empty) and `sendMessage`.
 * Not modelled: every other method, chats, limits, delivery of updates.
 */
export async function startTelegram(options: TelegramOptions): Promise<Listening> {
  const app = new Hono();
  let webhook = "";
  const sent: { chat_id: string; text: string }[] = [];
  app.get("/", (context) =>
    context.text(`Stand-in for Telegram (rehearsal only). Messages sent: ${sent.length}`),
  );
  app.all("/:bot/:method", async (context) => {
    if (context.req.param("bot") !== `bot${options.botToken}`) {
      return context.json({ ok: false, error_code: 401, description: "Unauthorized" }, 401);
    }
    const body = (await context.req.json().catch(() => ({}))) as Record<string, string>;
    const answer = (result: unknown): Response => context.json({ ok: true, result });
    switch (context.req.param("method")) {
      case "getMe":
        return answer({ id: 1, is_bot: true, first_name: "steward", username: "steward_rehearsal_bot" });
      case "setWebhook":
        webhook = body["url"] ?? "";
        return answer(true);
      case "deleteWebhook":
        webhook = "";
        return answer(true);
      case "getWebhookInfo":
        return answer({ url: webhook, has_custom_certificate: false, pending_update_count: 0 });
      case "getUpdates":
        return answer([]);
      case "sendMessage":
        sent.push({ chat_id: body["chat_id"] ?? "", text: body["text"] ?? "" });
        return answer({ message_id: sent.length, date: Math.floor(Date.now() / 1_000), text: body["text"] });
      default:
        return context.json({ ok: false, error_code: 404, description: "Not Found" }, 404);
    }
  });
  return listen(app, options);
}
