import type { Prompt } from "./text.ts";

/**
 * Marks the conversation of a program that called the API as a trusted prompt, because the program holds the
 * gateway's token. `.dependency-cruiser.mjs` restricts which files may import this.
 */
export const callerText = (text: string): Prompt => text as Prompt;
