import type { ReplyTarget } from "../../../contract/message.ts";
import * as z from "zod/mini";
import "../../../contract/english.ts";
import type { Capability } from "../../../contract/config/rights.ts";
import type { Place } from "../question.ts";
import type { Rights } from "../../admission.ts";
import { oneLine } from "../../prompt/text.ts";
import type { ToolDefinition } from "../../models/model.ts";

const LONGEST_DESCRIPTION = 2_000;

export interface ToolContext extends Place, Rights {
  session: string;
  /** Id of the platform event that is being answered. */
  delivery: string;
  /** Id of the person who asked; absent for schedules. */
  asker?: string;
  target: ReplyTarget;
  signal: AbortSignal;
}

export interface ToolFile {
  kind: "image" | "audio" | "file";
  /** As declared by the tool, or empty. */
  mediaType: string;
  data: Buffer<ArrayBuffer>;
}

/** Result of a tool that returns files. The text refers to them as `file 1`, `file 2` and so on. */
export interface ToolOutcome {
  text: string;
  files: readonly ToolFile[];
}

/**
 * A tool for the model. `run` validates its input. If `run` rejects, the error's text goes to the model but never to
 * the chat, and must contain no secret.
 */
export interface Tool {
  definition: ToolDefinition;
  /** Replacement for the tool's name if another tool has the same name. */
  alias?: string;
  /** Required capability. Default: none. */
  needs?: Capability;
  /** Default: works on all platforms. */
  worksOn?(platform: Place["platform"]): boolean;
  run(input: unknown, context: ToolContext): Promise<string | ToolOutcome>;
}

/** A tool's failure, worded for the model. Contains no secret. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Defines a tool that validates its input before `run`. */
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
