import type { ModelImage, Model, ModelAnswer, ModelMessage, ModelRequest } from "../models/model.ts";
import { summaryRequest, turnMessage } from "../prompt/conversation.ts";
import type { ModelText } from "../prompt/text.ts";
import type { PlacedTurn } from "../sessions/store.ts";

const CHARACTERS_A_TOKEN = 4;
const TOKENS_AN_IMAGE = 1_600;
/** Estimated number of tokens per document page. The model gets each page both as a picture and as text. */
const TOKENS_A_PAGE = 3_000;
/** Minimum size of a request for {@link tokenRatio}, in estimated tokens. Smaller requests are mostly overhead. */
const SMALLEST_SAMPLE = 1_000;

const SUMMARY_TOKENS = 1_500;
/** Share of the model's context that unsummarized turns may fill. */
const KEPT_SHARE = 0.3;
/** Share of the model's context that the turns for one summary may fill. */
const READ_SHARE = 0.6;

export function splitForSummary(
  turns: readonly PlacedTurn[],
  tokens: number,
): { older: PlacedTurn[]; newer: PlacedTurn[] } {
  let left = tokens * KEPT_SHARE;
  let first = turns.length;
  while (first > 0) {
    const turn = turns[first - 1];
    if (turn !== undefined) left -= messageTokens(turnMessage(turn));
    if (left < 0) break;
    first -= 1;
  }
  while (first < turns.length && turns[first]?.role !== "user") first += 1;
  return { older: turns.slice(0, first), newer: turns.slice(first) };
}

export function summarise(
  model: Model,
  { summary, older }: { summary: ModelText | undefined; older: readonly PlacedTurn[] },
  tokens: number,
  request: Pick<ModelRequest, "signal" | "preferred">,
): Promise<ModelAnswer> {
  const most = Math.floor(tokens * READ_SHARE * CHARACTERS_A_TOKEN);
  return model.answer({
    ...request,
    ...summaryRequest({ summary, turns: older }, most),
    tools: [],
    maxOutputTokens: SUMMARY_TOKENS,
  });
}

function messageTokens(message: ModelMessage): number {
  if (message.role === "tool") {
    const words = textTokens(message.results.map(({ output }) => output).join(""));
    return words + imageTokens(message.results.flatMap(({ images = [] }) => images));
  }
  const calls = message.role === "assistant" ? JSON.stringify(message.toolCalls ?? []) : "";
  const images = message.role === "user" ? (message.images ?? []) : [];
  return textTokens(message.text + calls) + imageTokens(images);
}

function imageTokens(images: readonly ModelImage[]): number {
  return images.reduce(
    (sum, { pages }) => sum + (pages === undefined ? TOKENS_AN_IMAGE : pages * TOKENS_A_PAGE),
    0,
  );
}

function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_A_TOKEN);
}

export function requestTokens({
  instructions,
  circumstances,
  messages,
  tools,
}: Pick<ModelRequest, "instructions" | "circumstances" | "messages" | "tools">): number {
  const fixed = textTokens(instructions + (circumstances ?? "") + JSON.stringify(tools));
  return messages.reduce((sum, message) => sum + messageTokens(message), fixed);
}

/** Returns the ratio of the provider's token count to the estimate; `undefined` if the sample is too small. */
export function tokenRatio(estimated: number, counted: number): number | undefined {
  if (estimated < SMALLEST_SAMPLE || counted <= 0) return undefined;
  return Math.min(4, Math.max(0.8, counted / estimated));
}
