import type { ModelTested } from "../../contract/control.ts";
import { prompt } from "../prompt/text.ts";
import type { ModelRelay } from "./relay.ts";

const QUESTION = prompt`Reply with the word OK.`;
/** Enough for one that thinks first: an empty answer would count as a failure. */
const MOST_TOKENS = 512;
/** Less than a page waits for a command. */
export const TEST_LIMIT_MS = 8_000;

/**
 * Asks one model a short question, once, also while it is left alone after a failure. What comes of it counts for the
 * model's state as every other question does.
 *
 * @throws StewardError what the provider refuses, or how it fails
 */
export async function testModel(
  relay: Pick<ModelRelay, "answer">,
  model: string,
  clock: () => number,
): Promise<ModelTested> {
  const begun = clock();
  const { tokens } = await relay.answer({
    instructions: prompt``,
    messages: [{ role: "user", text: QUESTION }],
    tools: [],
    maxOutputTokens: MOST_TOKENS,
    only: model,
    signal: AbortSignal.timeout(TEST_LIMIT_MS),
  });
  return { model, ms: clock() - begun, tokens };
}
