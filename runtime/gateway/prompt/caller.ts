import type { Prompt } from "./text.ts";

/**
 * Marks a conversation from the API as a trusted prompt, because its sender holds the gateway's token.
 * `.dependency-cruiser.mjs` restricts which files may import this function.
 */
export const callerText = (text: string): Prompt => text as Prompt;
