/** Update types that steward requests from Telegram, by polling and by webhook. */
export const TELEGRAM_UPDATES = ["message", "edited_message", "callback_query"] as const;
