import { ERRORS } from "../../contract/errors.ts";
import type { ModelRefusal } from "../models/model.ts";

/** What the person in the chat reads: what is wrong, the provider's word for it, and the fix. */
export function refusalText({ code, message, tooLong }: ModelRefusal): string {
  if (tooLong) return "I cannot answer: this message is longer than the model can read. Send a shorter one.";
  const { title, fix } = ERRORS[code];
  return `I cannot answer: ${title} (${message}). ${fix}`;
}

/** Where the answer took longer than `agent.timeout`. */
export function timeoutText(timeout: string): string {
  return `I stopped: the answer took longer than ${timeout}. Ask for less at once, or raise agent.timeout.`;
}
