import type { Unheard } from "../media/media.ts";

/** Causes that keep an answer from being made, as the end of a sentence for people in the chat. */
const CAUSES: Partial<Record<string, string>> = {
  model_rate_limited: "the model provider's rate limit is reached",
  model_overloaded: "the model provider is overloaded",
  model_no_answer: "the model provider does not answer",
  model_broke_off: "the model's answer breaks off each time",
  model_empty: "the model's answer is empty each time",
  model_not_streamed: "what answers at the model's address is not the model",
};
const UNKNOWN = "something here does not work";

/** The first words where the model is slow, or is busy with an earlier message of the chat. */
export const SLOW_TEXT =
  "I have your message, and the model has not begun to answer yet. I keep waiting for it: the answer comes by itself.";

/** Words to somebody whose press of a button does nothing. */
export const PRESS_WORDS = {
  unknown: "I do not know this button any more.",
  expired: "This button has expired.",
  used: "This was answered already.",
  "another's": "This button is not for you.",
};

/** Words for a file that is asked for too late. */
export const GONE_TEXT = "I no longer have that answer, so I cannot send it as a file.";

/** Tells that an answer comes later, why, and when. `waitMs` is the time that the other side asked for. */
export function waitText(code: string, waitMs: number | undefined): string {
  const when = waitMs === undefined ? "and again for up to a day" : inWords(waitMs);
  return `I cannot answer yet: ${CAUSES[code] ?? UNKNOWN}. I have your message and try again ${when}; the answer comes by itself.`;
}

/** Returns the text for a message that will not be answered, with the reason if it is known. */
export function givenUpText(code: string | undefined): string {
  const why = code === undefined ? "I was not running" : (CAUSES[code] ?? UNKNOWN);
  return `I have tried for a day and cannot answer your message: ${why}. Please send it again later.`;
}

/** The answers to nothing but recordings whose words are not known. */
export const UNHEARD_TEXTS: Readonly<Record<Unheard, string>> = {
  "not configured": "I cannot listen to voice notes or audio files here. Please write to me instead.",
  "too long": "That recording is too long for me to listen to. Please send a shorter one, or write to me.",
  failed: "I could not make out any words in that recording. Please send it again, or write to me.",
};

/** From two on. */
const NUMBERS = "two three four five six seven eight nine ten eleven twelve".split(" ");
const UNITS = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
] as const;

/** For example `in about six hours`. */
function inWords(ms: number): string {
  const { unit, ms: one } = UNITS.find((each) => ms >= each.ms * 0.9) ?? UNITS[2];
  const count = Math.max(1, Math.round(ms / one));
  if (count === 1) return `in about ${unit === "hour" ? "an" : "a"} ${unit}`;
  return `in about ${NUMBERS[count - 2] ?? count} ${unit}s`;
}
