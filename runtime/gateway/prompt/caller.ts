import type { Prompt } from "./text.ts";

/**
 * Passes on a conversation that another program made for the model, as it is: the program holds the gateway's token, and
 * speaks for itself. `.dependency-cruiser.mjs` names the files that may.
 */
export const callerText = (text: string): Prompt => text as Prompt;
