/** The update types that steward requests from Telegram, by polling and by webhook. Other types would be ignored. */
export const TELEGRAM_UPDATES = ["message", "edited_message", "callback_query"] as const;
