import type { Redactor } from "../../shared/redact.ts";
import type { ToolCall, ToolDefinition } from "../models/model.ts";
import type { Prompt } from "../prompt/text.ts";
import type { McpServers } from "./mcp/servers.ts";
import type { Place } from "./question.ts";
import type { Rights } from "../admission.ts";
import type { BuiltinOptions } from "./tools/builtin.ts";
import { ToolError, type Tool, type ToolContext } from "./tools/tool.ts";

const LONGEST_OUTPUT = 60_000;
const LONGEST_FAILURE = 500;

/** Dependencies of the tools. */
export interface ToolboxOptions extends BuiltinOptions {
  mcp: McpServers;
  /** Takes secrets out of what a tool gives. */
  redact: Redactor;
}

/** The tools of one question, and what is said of those that are missing. */
export interface OpenTools {
  definitions: ToolDefinition[];
  notes: Prompt[];
  /** Runs a call. Rejects only where the context's signal ended it. */
  run(call: ToolCall, context: ToolContext): Promise<{ output: string; failed: boolean }>;
}

/** Tools of the agent: the tools that come with steward, loaded on first use, and those of MCP servers. */
export class Toolbox {
  readonly #options: ToolboxOptions;
  #builtin: Promise<Tool[]> | undefined;

  constructor(options: ToolboxOptions) {
    this.#options = options;
  }

  /** The tools that one may use, as they stand now. A server that is not there is left out, and noted. */
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

  /** Ends what the tools hold open. */
  close(): Promise<void> {
    return this.#options.mcp.close();
  }

  async #run(tool: Tool | undefined, call: ToolCall, context: ToolContext) {
    const { log, redact } = this.#options;
    if (tool === undefined) return { output: `There is no tool ${call.name}.`, failed: true };
    try {
      const output = redact(await tool.run(call.input, context));
      const cut = `${output.slice(0, LONGEST_OUTPUT).toWellFormed()}\n(The rest is left out.)`;
      return { output: output.length > LONGEST_OUTPUT ? cut : output, failed: false };
    } catch (error) {
      if (context.signal.aborted) throw error;
      const output = redact(failureText(error)).slice(0, LONGEST_FAILURE).toWellFormed();
      log.warn("a tool failed", { tool: call.name, detail: output });
      return { output, failed: true };
    }
  }
}

/** Errors of the file system name paths of this machine: their code is enough. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return "The tool failed.";
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (error instanceof ToolError || code === undefined || !/^E[A-Z]+$/.test(code)) return error.message;
  return `The tool failed (${code}).`;
}
