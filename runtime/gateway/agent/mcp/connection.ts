import { createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { VERSION } from "../../../contract/names.ts";
import { afterMark, toolText } from "../../prompt/text.ts";
import { ToolError, type Tool, type ToolOutcome } from "../tools/tool.ts";
import { StdioTransport } from "./stdio.ts";
import { inputForm, readResult, serversInput, toolName } from "./tool-form.ts";

const MAX_TOOLS = 200;
const MAX_PAGES = 20;
const LONGEST_DESCRIPTION = 2_000;

export interface McpConnection {
  tools: Tool[];
  /** Tools left out because no provider accepts them. The names are the server's. */
  leftOut: { name: string; problem: string }[];
  close(): Promise<void>;
}

export interface ConnectOptions {
  name: string;
  server: {
    command?: string;
    args: readonly string[];
    env: Record<string, string>;
    url?: string;
    headers: Record<string, string>;
  };
  /** Timeout of a tool call, in milliseconds. */
  callMs: number;
  /** Timeout in milliseconds for connecting and listing the tools. */
  connectMs: number;
  /** Called when the server closes the connection. */
  onEnd(): void;
}

/** Connects to an MCP server and lists its tools. Rejects after `connectMs`. */
export async function connectMcpServer(options: ConnectOptions): Promise<McpConnection> {
  const { name, server, callMs, connectMs, onEnd } = options;
  const { command, args, env, url = "", headers } = server;
  const stdio = command === undefined ? undefined : new StdioTransport({ command, args, env, onEnd });
  const signal = AbortSignal.timeout(connectMs);
  const connecting = createMCPClient({
    transport: stdio ?? { type: "http", url, headers, redirect: "error" },
    initializationOptions: { signal, timeout: connectMs },
    clientName: "steward",
    version: VERSION,
    onUncaughtError: () => {},
  });
  try {
    const client = await rejectOnAbort(connecting, signal);
    // Over HTTP, a call without a response is the only sign that the server is gone.
    const onTrouble = (): void => {
      if (stdio !== undefined) return;
      onEnd();
      void client.close().catch(() => undefined);
    };
    const listed = await rejectOnAbort(listTools(client, { server: name, callMs, onTrouble }), signal);
    return { ...listed, close: () => client.close().catch(() => undefined) };
  } catch (error) {
    void connecting.then((client) => client.close()).catch(() => undefined);
    await stdio?.close();
    throw error;
  }
}

/** Rejects when the signal aborts, even if the work ignores it. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("The server does not answer.")), { once: true });
  });
  return Promise.race([work, late]);
}

interface CallOptions {
  server: string;
  callMs: number;
  onTrouble(): void;
}

async function listTools(
  client: MCPClient,
  options: CallOptions,
): Promise<Pick<McpConnection, "tools" | "leftOut">> {
  const tools: Tool[] = [];
  const leftOut: McpConnection["leftOut"] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await client.listTools(cursor === undefined ? {} : { params: { cursor } });
    for (const { name, description = "", inputSchema } of answer.tools) {
      const form = inputForm({ ...inputSchema });
      if ("problem" in form) {
        leftOut.push({ name, problem: form.problem });
        continue;
      }
      const { name: called, alias } = toolName(options.server, name);
      const said = toolText(description.slice(0, LONGEST_DESCRIPTION));
      tools.push({
        definition: { name: called, description: afterMark(said), inputSchema: form.schema },
        alias,
        run: (input, { signal }) => call(client, name, serversInput(input, form.renamed), options, signal),
      });
    }
    cursor = answer.nextCursor;
    if (cursor === undefined || tools.length >= MAX_TOOLS) break;
  }
  return { tools: tools.slice(0, MAX_TOOLS), leftOut: leftOut.slice(0, MAX_TOOLS) };
}

async function call(
  client: MCPClient,
  name: string,
  args: Record<string, unknown>,
  { callMs, onTrouble }: CallOptions,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const both = AbortSignal.any([signal, AbortSignal.timeout(callMs)]);
  const options = { signal: both, timeout: callMs };
  const result = await rejectOnAbort(client.callTool({ name, arguments: args, options }), both).catch(
    (error: unknown) => {
      if (!signal.aborted && !isJsonRpcError(error)) onTrouble();
      throw error;
    },
  );
  const outcome = readResult(result);
  if ("isError" in result && result.isError === true) throw new ToolError(outcome.text);
  return outcome;
}

/** Returns true for a JSON-RPC error, which shows that the server is still responding. */
function isJsonRpcError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "number";
}
