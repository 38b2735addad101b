import * as z from "zod/mini";
import { textUpTo } from "../../contract/config/values.ts";
import type { Image, ModelMessage } from "../models/model.ts";

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const imagePart = z.object({
  type: z.literal("image_url"),
  image_url: z.object({
    url: z
      .string()
      .check(
        z.regex(
          /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/,
          "must be a data: URL of an image",
        ),
      ),
  }),
});
const texts = z.union([z.string(), z.array(textPart)]);
const message = z.discriminatedUnion("role", [
  z.object({ role: z.enum(["system", "developer"]), content: texts }),
  z.object({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.union([textPart, imagePart]))]),
  }),
  z.object({ role: z.literal("assistant"), content: texts }),
]);

/**
 * A request for a chat completion, as far as it is served. Tools of the caller are refused instead of
 * left out: an answer without them would be another one.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
export const completionSchema = z.object({
  model: textUpTo(200),
  messages: z.array(message).check(z.minLength(1), z.maxLength(1_000)),
  stream: z.nullish(z.boolean()),
  stream_options: z.nullish(z.object({ include_usage: z.nullish(z.boolean()) })),
  max_tokens: z.nullish(z.int().check(z.minimum(1))),
  max_completion_tokens: z.nullish(z.int().check(z.minimum(1))),
  n: z.nullish(z.literal(1, "must be 1")),
  tools: z.nullish(z.array(z.unknown()).check(z.maxLength(0, "tools of the caller are not served"))),
});

/** See {@link completionSchema}. */
export type Completion = z.infer<typeof completionSchema>;

/** What the model is asked: the caller's own words alone. `instructions` is empty where there are none. */
export interface Asked {
  instructions: string;
  messages: ModelMessage[];
}

/** Turns the caller's messages into the relay's. */
export function readMessages({ messages }: Completion): Asked {
  const instructions: string[] = [];
  const said: ModelMessage[] = [];
  for (const { role, content } of messages) {
    const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const images = parts.flatMap((part) =>
      part.type === "image_url" ? [readImage(part.image_url.url)] : [],
    );
    if (role === "user") said.push({ role, text, ...(images.length > 0 && { images }) });
    else if (role === "assistant") said.push({ role, text });
    else instructions.push(text);
  }
  return { instructions: instructions.join("\n\n"), messages: said };
}

function readImage(url: string): Image {
  const comma = url.indexOf(",");
  const mediaType = url.slice("data:".length, url.indexOf(";"));
  return { mediaType, data: Buffer.from(url.slice(comma + 1), "base64") };
}
