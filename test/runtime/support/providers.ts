import {
  createAnthropicModel,
  createOpenAiCompatibleModel,
} from "../../../runtime/gateway/models/providers.ts";
import type { ModelRequest } from "../../../runtime/gateway/models/model.ts";
import { prompt } from "../../../runtime/gateway/prompt/text.ts";
import { startChatModel } from "./models.ts";
import { startModel } from "./platforms.ts";

const OPTIONS = { apiKey: "sk-test-key", redact: (text: string) => text, report: () => {}, clock: () => 0 };

/** A question to a model; `extra` adds to it. */
export function request(extra: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: prompt`Be brief.`,
    messages: [{ role: "user", text: prompt`hello` }],
    tools: [],
    maxOutputTokens: 100,
    signal: new AbortController().signal,
    ...extra,
  };
}

/** Anthropic over a server that a test scripts; `sent()` is the last request that it got. */
export async function anthropic() {
  const server = await startModel();
  const model = createAnthropicModel({ ...OPTIONS, modelId: "claude-test", baseUrl: `${server.url}/v1` });
  return {
    server,
    model,
    sent: () => JSON.parse(server.calls.at(-1)?.body ?? "") as Record<string, unknown>,
  };
}

/** The same for a server that is compatible with OpenAI. */
export async function compatible() {
  const server = await startChatModel();
  const model = createOpenAiCompatibleModel({
    ...OPTIONS,
    provider: "acme",
    modelId: "org/gpt-test",
    baseUrl: server.baseUrl,
  });
  return {
    server,
    model,
    sent: () => JSON.parse(server.calls.at(-1)?.body ?? "") as Record<string, unknown>,
  };
}
