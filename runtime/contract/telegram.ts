/** The kinds of updates that Telegram is asked for, by polling and by webhook. Everything else would be left alone. */
export const TELEGRAM_UPDATES = ["message", "edited_message", "callback_query"] as const;
