import * as z from "zod/mini";
import { reachOf } from "../reach.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { defineTool, ToolError, type Tool } from "./tool.ts";

const LONGEST_FILE = 1_000_000;

/** Creates a tool that adds a dated line to the memory file, which every prompt includes. */
export function rememberTool(workspace: Workspace, clock: () => number): Tool {
  return defineTool({
    name: "remember",
    needs: "keepFiles",
    description:
      "Stores a fact for all later conversations as a dated line in MEMORY.md; in a group, for that group only.",
    input: z.strictObject({ text: z.string().check(z.trim(), z.minLength(1), z.maxLength(2_000)) }),
    run: ({ text }, context) => {
      const reach = reachOf(workspace, context);
      const { memory } = reach;
      const before = reach.read(memory) ?? "";
      const gap = before === "" || before.endsWith("\n") ? "" : "\n";
      const line = `- ${new Date(clock()).toISOString().slice(0, 10)}: ${text.replace(/\s+/g, " ")}\n`;
      const whole = before + gap + line;
      if (whole.length > LONGEST_FILE) throw new ToolError(`${memory} is full: shorten it with write_file.`);
      reach.write(memory, whole);
      return "Remembered.";
    },
  });
}
