import * as z from "zod/mini";
import { withHelp, textUpTo } from "../../../contract/config/values.ts";
import { reachOf } from "../reach.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { defineTool, ToolError, type Tool } from "./tool.ts";

const PAGE_CHARACTERS = 40_000;
const LONGEST_FILE = 1_000_000;
const MAX_ENTRIES = 500;

const name = withHelp(textUpTo(500), "Path in the workspace, for example notes/plan.md");

export function readFileTool(workspace: Workspace): Tool {
  return defineTool({
    name: "read_file",
    description:
      "Reads a text file of the workspace. Each line is indented by four spaces that are not in the file.",
    input: z.strictObject({
      path: name,
      offset: withHelp(z._default(z.int().check(z.minimum(0)), 0), "Character to begin at"),
    }),
    run: ({ path: file, offset }, context) => {
      const text = reachOf(workspace, context).read(file);
      if (text === undefined) throw new ToolError(`There is no file ${file}.`);
      const end = offset + PAGE_CHARACTERS;
      const page = text.slice(offset, end).toWellFormed();
      return text.length > end ? `${page}\n(More follows: continue with offset ${end}.)` : page;
    },
  });
}

export function writeFileTool(workspace: Workspace): Tool {
  return defineTool({
    name: "write_file",
    needs: "keepFiles",
    description: "Writes a text file of the workspace and replaces its content. Missing folders are created.",
    input: z.strictObject({ path: name, text: z.string().check(z.maxLength(LONGEST_FILE)) }),
    run: ({ path: file, text }, context) => {
      reachOf(workspace, context).write(file, text);
      return `Written: ${file}, ${text.length} characters.`;
    },
  });
}

export function listFilesTool(workspace: Workspace): Tool {
  return defineTool({
    name: "list_files",
    description: "Lists a folder of the workspace. Folders end in a slash.",
    input: z.strictObject({
      path: withHelp(
        z._default(z.string().check(z.maxLength(500)), ""),
        "Folder; empty for the whole workspace",
      ),
    }),
    run: ({ path: folder }, context) => {
      const entries = reachOf(workspace, context).list(folder);
      if (entries === undefined) throw new ToolError(`There is no folder ${folder}.`);
      const lines = entries.slice(0, MAX_ENTRIES).map(({ name: entry, kind, size }) => {
        if (kind === "folder") return `${entry}/`;
        return kind === "file" ? `${entry} (${size} bytes)` : `${entry} (not a file)`;
      });
      if (entries.length > MAX_ENTRIES) lines.push(`(${entries.length - MAX_ENTRIES} more)`);
      return lines.length === 0 ? "(empty)" : lines.join("\n");
    },
  });
}
