import type { Redactor } from "../../shared/redact.ts";
import type { Attachment } from "../../contract/message.ts";
import { readMessages } from "../inbox/attachments.ts";
import { imageFacts } from "../media/image.ts";
import type { Media } from "../media/media.ts";
import { endingOf } from "../media/types.ts";
import type { ModelImage, ToolCall, ToolDefinition } from "../models/model.ts";
import type { Prompt } from "../prompt/text.ts";
import type { McpServers } from "./mcp/servers.ts";
import type { Place } from "./question.ts";
import type { Rights } from "../admission.ts";
import { reachOf } from "./reach.ts";
import type { BuiltinOptions } from "./tools/builtin.ts";
import { ToolError, type Tool, type ToolContext, type ToolFile, type ToolOutcome } from "./tools/tool.ts";

const LONGEST_OUTPUT = 60_000;
const LONGEST_FAILURE = 500;

export interface ToolboxOptions extends BuiltinOptions {
  mcp: McpServers;
  media: Pick<Media, "read" | "transcriptRefusal">;
  redact: Redactor;
}

interface CallOutcome {
  output: string;
  images?: readonly ModelImage[];
  failed: boolean;
}

/** Tools for one question. */
export interface OpenTools {
  definitions: ToolDefinition[];
  notes: Prompt[];
  /** Rejects only if the context's signal aborted the call. */
  run(call: ToolCall, context: ToolContext): Promise<CallOutcome>;
}

/** The agent's tools: the built-in ones, loaded on first use, and those of MCP servers. */
export class Toolbox {
  readonly #options: ToolboxOptions;
  #builtin: Promise<Tool[]> | undefined;

  constructor(options: ToolboxOptions) {
    this.#options = options;
  }

  /** Returns the tools that the asker may use. `notes` lists unavailable servers and tools. */
  async open(
    { may, platform }: Pick<Rights, "may"> & Pick<Place, "platform">,
    signal: AbortSignal,
  ): Promise<OpenTools> {
    this.#builtin ??= import("./tools/builtin.ts").then(({ builtinTools }) => builtinTools(this.#options));
    const none = { tools: [], notes: [] };
    const servers = may("useMcp") ? await this.#options.mcp.open(signal) : none;
    const builtin = (await this.#builtin).filter(
      ({ needs, worksOn }) => (needs === undefined || may(needs)) && worksOn?.(platform) !== false,
    );
    const tools = new Map(builtin.map((tool) => [tool.definition.name, tool]));
    for (const tool of servers.tools) {
      const { alias, definition } = tool;
      tools.set(tools.has(definition.name) ? (alias ?? definition.name) : definition.name, tool);
    }
    return {
      definitions: [...tools].map(
        ([
          name,
          {
            definition: { description, inputSchema },
          },
        ]) => {
          return { name, description, inputSchema };
        },
      ),
      notes: servers.notes,
      run: (call, context) => this.#run(tools.get(call.name), call, context),
    };
  }

  /**
   * Converts a tool's result, including its files, to text and images for the model. Also stores the files in the
   * chat's folder.
   */
  async #read(tool: string, { text, files }: ToolOutcome, context: ToolContext) {
    if (files.length === 0) return { text, images: [] };
    const { workspace, media, config } = this.#options;
    const reach = reachOf(workspace, context);
    const kept = files.map((file, index) => {
      const what = `file ${index + 1}`;
      if (!context.may("keepFiles")) return "";
      try {
        return `${what} is stored as ${reach.keep(nameOf(tool, file), file.data)}.`;
      } catch (error) {
        return `${what} could not be stored: ${failureText(error)}`;
      }
    });
    const attachments = files.map(({ kind, data }, index): Attachment => ({
      kind,
      name: `file ${index + 1}`,
      sizeBytes: data.byteLength,
      reference: String(index),
    }));
    const load = async ({ reference }: Attachment) => files[Number(reference)]?.data ?? Buffer.of();
    const words = [cut(text, LONGEST_OUTPUT / 2), ...kept].filter((line) => line !== "").join("\n");
    const { messages } = await readMessages([{ text: words, attachments }], {
      channel: { load, mediaMaxBytes: Number.POSITIVE_INFINITY },
      media,
      contextTokens: config.models.contextTokens,
      signal: context.signal,
    });
    return messages[0] ?? { text: words, images: [] };
  }

  close(): Promise<void> {
    return this.#options.mcp.close();
  }

  async #run(tool: Tool | undefined, call: ToolCall, context: ToolContext): Promise<CallOutcome> {
    const { log, redact } = this.#options;
    if (tool === undefined) return { output: `There is no tool ${call.name}.`, failed: true };
    try {
      const outcome = await tool.run(call.input, context);
      if (typeof outcome === "string") return { output: cut(redact(outcome)), failed: false };
      const { text, images } = await this.#read(call.name, outcome, context);
      return { output: cut(redact(text)), images, failed: false };
    } catch (error) {
      if (context.signal.aborted) throw error;
      const output = redact(failureText(error)).slice(0, LONGEST_FAILURE).toWellFormed();
      log.warn("a tool failed", { tool: call.name, detail: output });
      return { output, failed: true };
    }
  }
}

/** Returns a file name derived from the content, so that equal files get equal names. */
function nameOf(tool: string, { data, mediaType }: ToolFile): string {
  const { hash } = process.getBuiltinModule("node:crypto");
  const ending = endingOf(imageFacts(data)?.mediaType ?? mediaType);
  return `${tool}-${hash("sha256", data).slice(0, 8)}.${ending}`;
}

function cut(output: string, most = LONGEST_OUTPUT): string {
  if (output.length <= most) return output;
  return `${output.slice(0, most).toWellFormed()}\n(The rest is left out.)`;
}

/**
 * Describes a failure for the model. A file system error becomes its code, because its message contains local paths.
 */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return "The tool failed.";
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (error instanceof ToolError || code === undefined || !/^E[A-Z]+$/.test(code)) return error.message;
  return `The tool failed (${code}).`;
}
