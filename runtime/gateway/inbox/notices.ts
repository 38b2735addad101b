import type { UnheardReason } from "../media/media.ts";

/** Reasons for a missing answer, keyed by error code and worded to follow a colon. */
const CAUSES: Partial<Record<string, string>> = {
  model_rate_limited: "the model provider's rate limit is reached",
  model_overloaded: "the model provider is overloaded",
  model_no_answer: "the model provider does not answer",
  model_broke_off: "the model's answer breaks off each time",
  model_empty: "the model's answer is empty each time",
  model_not_streamed: "the server at the model's address is not a model",
};
const UNKNOWN = "there is an internal problem";

export const SLOW_MODEL_TEXT =
  "I have your message, but the model has not begun to answer yet. I keep waiting and will send the answer here.";

export const PRESS_WORDS = {
  unknown: "This button no longer works.",
  expired: "This button has expired.",
  used: "This has already been answered.",
  "another's": "This button is not for you.",
};

export const ANSWER_GONE_TEXT = "I no longer have that answer, so I cannot send it as a file.";

/** Returns the notice for a delayed answer. `waitMs`: milliseconds until the next attempt, if known. */
export function waitText(code: string, waitMs: number | undefined): string {
  const when = waitMs === undefined ? "and again for up to a day" : formatWait(waitMs);
  return `I cannot answer yet: ${CAUSES[code] ?? UNKNOWN}. I have your message, will try again ${when} and send the answer here.`;
}

export function givenUpText(code: string | undefined): string {
  const why = code === undefined ? "I was unavailable" : (CAUSES[code] ?? UNKNOWN);
  return `I have tried for a day and cannot answer your message: ${why}. Please send it again later.`;
}

/** Reply texts for messages that contain only recordings, by the reason for the missing transcript. */
export const UNHEARD_TEXTS: Readonly<Record<UnheardReason, string>> = {
  "not configured": "I cannot listen to voice notes or audio files here. Please write to me instead.",
  "too long": "That recording is too long for me to listen to. Please send a shorter one, or write to me.",
  failed: "I could not make out any words in that recording. Please send it again, or write to me.",
};

const NUMBERS = "two three four five six seven eight nine ten eleven twelve".split(" ");
const UNITS = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
] as const;

/** Formats a wait, for example `in about six hours`. */
function formatWait(ms: number): string {
  const { unit, ms: one } = UNITS.find((each) => ms >= each.ms * 0.9) ?? UNITS[2];
  const count = Math.max(1, Math.round(ms / one));
  if (count === 1) return `in about ${unit === "hour" ? "an" : "a"} ${unit}`;
  return `in about ${NUMBERS[count - 2] ?? count} ${unit}s`;
}
