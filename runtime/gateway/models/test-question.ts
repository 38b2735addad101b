import type { ModelTested } from "../../contract/control.ts";
import { prompt } from "../prompt/text.ts";
import type { ModelRelay } from "./relay.ts";

const QUESTION = prompt`Reply with the word OK.`;
/** Maximum tokens of the answer, enough for reasoning before the text. */
const MAX_TOKENS = 512;
/** Timeout in milliseconds, shorter than the admin pages' timeout. */
export const TEST_LIMIT_MS = 8_000;

/**
 * Sends a short question to one model, even if it has just failed. Updates the model's state.
 *
 * @throws StewardError the provider's refusal or failure
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
    maxOutputTokens: MAX_TOKENS,
    only: model,
    signal: AbortSignal.timeout(TEST_LIMIT_MS),
  });
  return { model, ms: clock() - begun, tokens };
}
