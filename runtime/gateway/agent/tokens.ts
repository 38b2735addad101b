import type { ModelMessage, ModelRequest } from "../models/model.ts";

const CHARACTERS_A_TOKEN = 4;
const TOKENS_AN_IMAGE = 1_600;
/** Below this many tokens the estimate is mostly overhead, and says nothing of the language. */
const SMALLEST_SAMPLE = 1_000;

/** Tokens of a message, estimated. */
export function messageTokens(message: ModelMessage): number {
  if (message.role === "tool") return textTokens(message.results.map(({ output }) => output).join(""));
  const calls = message.role === "assistant" ? JSON.stringify(message.toolCalls ?? []) : "";
  const images = message.role === "user" ? (message.images?.length ?? 0) : 0;
  return textTokens(message.text + calls) + images * TOKENS_AN_IMAGE;
}

/** Tokens of a text, estimated. */
export function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_A_TOKEN);
}

/** Tokens of a whole request, estimated. */
export function requestTokens({
  instructions,
  circumstances = "",
  messages,
  tools,
}: Pick<ModelRequest, "instructions" | "circumstances" | "messages" | "tools">): number {
  const fixed = textTokens(instructions + circumstances + JSON.stringify(tools));
  return messages.reduce((sum, message) => sum + messageTokens(message), fixed);
}

/** How many tokens the provider counted for each that was estimated; `undefined` where it tells little. */
export function tokenRatio(estimated: number, counted: number): number | undefined {
  if (estimated < SMALLEST_SAMPLE || counted <= 0) return undefined;
  return Math.min(4, Math.max(0.8, counted / estimated));
}
