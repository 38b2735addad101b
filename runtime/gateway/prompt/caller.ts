import type { Prompt } from "./text.ts";

/**
 * Marks an API caller's text as a trusted prompt, because the caller holds the gateway's token.
 * `.dependency-cruiser.mjs` restricts which files may import this function.
 */
export const callerText = (text: string): Prompt => text as Prompt;
