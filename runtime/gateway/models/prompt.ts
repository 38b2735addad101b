import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { prompt } from "../prompt/text.ts";
import type {
  ModelImage,
  ModelMessage,
  ModelRequest,
  ToolCall,
  ToolDefinition,
  ToolResult,
} from "./model.ts";

type Tool = NonNullable<LanguageModelV4CallOptions["tools"]>[number] & { type: "function" };
type Part<Role extends LanguageModelV4Message["role"]> = Exclude<
  Extract<LanguageModelV4Message, { role: Role }>["content"],
  string
>[number];

/**
 * Converts messages to the format of the providers' clients. Leaves out empty texts, which providers refuse.
 *
 * Set `picturesInResults` if the provider accepts pictures in tool results, as Anthropic does
 * (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use). Otherwise, a separate message
 * contains the pictures, as chat completions require (https://platform.openai.com/docs/api-reference/chat/create).
 */
export function toMessages(
  messages: readonly ModelMessage[],
  { picturesInResults }: { picturesInResults: boolean },
): LanguageModelV4Message[] {
  const all = messages.flatMap((message) =>
    picturesInResults || message.role !== "tool" ? message : moveImagesAfter(message),
  );
  return all.map(toMessage).filter(({ content }) => content.length > 0);
}

function moveImagesAfter(message: Extract<ModelMessage, { role: "tool" }>): ModelMessage[] {
  const images = message.results.flatMap((result) => result.images ?? []);
  const results = message.results.map(({ id, name, output, failed }) => ({ id, name, output, failed }));
  const behind = { role: "user", text: message.caption ?? prompt``, images } as const;
  return [{ role: "tool", results }, ...(images.length > 0 ? [behind] : [])];
}

function toMessage(message: ModelMessage): LanguageModelV4Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: [...(message.images ?? []).map(toFile), ...toText(message.text)] };
    case "assistant":
      return {
        role: "assistant",
        content: [...toText(message.text), ...(message.toolCalls ?? []).map(toCall)],
      };
    case "tool":
      return { role: "tool", content: message.results.map(toResult) };
  }
}

function toText(text: string): { type: "text"; text: string }[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function toFile({ mediaType, data }: ModelImage) {
  return { type: "file", mediaType, data: { type: "data", data } } as const;
}

/** Converts a tool call. Input that is not an object becomes `{ input }`, because providers accept only objects. */
function toCall({ id, name, input }: ToolCall): Part<"assistant"> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return { type: "tool-call", toolCallId: id, toolName: name, input: isObject ? input : { input } };
}

function toResult({ id, name, output, images = [], failed }: ToolResult): Part<"tool"> {
  const call = { type: "tool-result", toolCallId: id, toolName: name } as const;
  if (failed || images.length === 0)
    return { ...call, output: { type: failed ? "error-text" : "text", value: output } };
  return { ...call, output: { type: "content", value: [...toText(output), ...images.map(toFile)] } };
}

export function toTools(tools: readonly ToolDefinition[]): Tool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description,
    inputSchema: inputSchema as Tool["inputSchema"],
  }));
}

/**
 * Converts the instructions to system messages. `marks` enables prompt caching
 * (https://docs.claude.com/en/docs/build-with-claude/prompt-caching) of the constant part. Without `marks`, returns a
 * single message, because some servers accept only one.
 */
export function toInstructions(
  { instructions, circumstances }: Pick<ModelRequest, "instructions" | "circumstances">,
  { marks }: { marks: boolean },
): LanguageModelV4Message[] {
  const texts = [instructions, circumstances ?? ""].filter((text) => text.trim() !== "");
  if (texts.length === 0) return [];
  if (!marks || instructions.trim() === "") return [{ role: "system", content: texts.join("\n\n") }];
  const [stable = "", ...behind] = texts;
  return [
    {
      role: "system",
      content: stable,
      providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
    },
    ...behind.map((content) => ({ role: "system" as const, content })),
  ];
}
