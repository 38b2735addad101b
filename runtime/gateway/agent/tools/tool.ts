import type { ReplyTarget } from "../../../contract/message.ts";
import * as z from "zod/mini";
import "../../../contract/english.ts";
import type { Capability } from "../../../contract/config/rights.ts";
import type { Place } from "../question.ts";
import type { Rights } from "../../admission.ts";
import { oneLine } from "../../prompt/text.ts";
import type { ToolDefinition } from "../../models/model.ts";

const LONGEST_DESCRIPTION = 2_000;

/** The conversation that a tool is used in: the part it may know. */
export interface ToolContext extends Place, Rights {
  session: string;
  /** The platform's event id of the message that is answered. */
  delivery: string;
  /** Id of the person who asks; absent if nobody does, as for a schedule. */
  asker?: string;
  target: ReplyTarget;
  signal: AbortSignal;
}

/** A file that a tool returns beside its text. */
export interface ToolFile {
  kind: "image" | "audio" | "file";
  /** As the tool declares it; empty if it does not. */
  mediaType: string;
  data: Buffer<ArrayBuffer>;
}

/** Outcome of a tool that may return files. Its text refers to them as `file 1`, `file 2` and so on. */
export interface ToolOutcome {
  text: string;
  files: readonly ToolFile[];
}

/**
 * Something that the agent can do. `run` checks its input itself and gives the model's text; what it
 * rejects with is told to the model as a failed call, never to the chat, and holds no secret.
 */
export interface Tool {
  definition: ToolDefinition;
  /** Name for the model where another tool has the definition's. */
  alias?: string;
  /** The capability that its use takes. Default: none. */
  needs?: Capability;
  /** Returns true for a platform that it works on. Default: all. */
  worksOn?(platform: Place["platform"]): boolean;
  run(input: unknown, context: ToolContext): Promise<string | ToolOutcome>;
}

/** Failure of a tool, in words for the model. Holds no secret. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** A tool whose input is checked with a schema before it runs. */
export function defineTool<Input extends z.ZodMiniObject>(spec: {
  name: string;
  description: string;
  needs?: Capability;
  input: Input;
  run(input: z.output<Input>, context: ToolContext): Promise<string> | string;
}): Tool {
  const { name, description, needs, input, run } = spec;
  return {
    ...(needs && { needs }),
    definition: {
      name,
      description: oneLine(description, LONGEST_DESCRIPTION),
      inputSchema: z.toJSONSchema(input, { io: "input" }),
    },
    run: async (value, context) => {
      const checked = input.safeParse(value);
      if (!checked.success) throw new ToolError(`Wrong input: ${z.prettifyError(checked.error)}`);
      return run(checked.data, context);
    },
  };
}
