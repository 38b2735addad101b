import type { JSONSchema7, ModelMessage as LibraryMessage, SystemModelMessage, ToolSet } from "ai";
import type { Image, ModelMessage, ModelRequest, ToolCall, ToolDefinition, ToolResult } from "./model.ts";

type Ai = typeof import("ai");
type Part<Role extends LibraryMessage["role"]> = Exclude<
  Extract<LibraryMessage, { role: Role }>["content"],
  string
>[number];

/** The conversation in the library's form. Providers refuse an empty text, so there is none. */
export function toMessages(messages: readonly ModelMessage[]): LibraryMessage[] {
  return messages.map(toMessage).filter(({ content }) => content.length > 0);
}

function toMessage(message: ModelMessage): LibraryMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: [...(message.images ?? []).map(toImage), ...toText(message.text)] };
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

function toImage({ mediaType, data }: Image): Part<"user"> {
  return { type: "file", mediaType, data };
}

/** Both providers refuse a call whose input is no object, even one that the model itself made. */
function toCall({ id, name, input }: ToolCall): Part<"assistant"> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return { type: "tool-call", toolCallId: id, toolName: name, input: isObject ? input : { input } };
}

function toResult({ id, name, output, failed }: ToolResult): Part<"tool"> {
  return {
    type: "tool-result",
    toolCallId: id,
    toolName: name,
    output: { type: failed ? "error-text" : "text", value: output },
  };
}

/** The tools without a way to run them: the library hands the calls on and ends there. */
export function toTools(tools: readonly ToolDefinition[], { dynamicTool, jsonSchema }: Ai): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      dynamicTool({ description, inputSchema: jsonSchema(inputSchema as JSONSchema7) }),
    ]),
  );
}

/**
 * The instructions, marked as what a provider with prompt caching may keep: they and the tools are the
 * same in every question (https://docs.claude.com/en/docs/build-with-claude/prompt-caching). What differs
 * follows behind the mark; where no mark is understood all is one message, since some servers take only one.
 */
export function toInstructions(
  { instructions, circumstances = "" }: Pick<ModelRequest, "instructions" | "circumstances">,
  { marks }: { marks: boolean },
): SystemModelMessage[] | undefined {
  const texts = [instructions, circumstances].filter((text) => text.trim() !== "");
  if (texts.length === 0) return undefined;
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
