import { createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { VERSION } from "../../../contract/names.ts";
import { following, toolText } from "../../prompt/text.ts";
import { ToolError, type Tool } from "../tools/tool.ts";
import { StdioTransport } from "./stdio.ts";

const MOST_TOOLS = 200;
const MOST_PAGES = 20;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;
const LONGEST_DESCRIPTION = 2_000;
/** Longest tool's name that providers take. */
const LONGEST_NAME = 64;

/** A server that is there. */
export interface McpConnection {
  tools: Tool[];
  close(): Promise<void>;
}

/** Way to one server. Either a command or an address. */
export interface ConnectOptions {
  name: string;
  server: {
    command?: string;
    args: readonly string[];
    env: Record<string, string>;
    url?: string;
    headers: Record<string, string>;
  };
  /** Milliseconds for a call, and for the connection with its list of tools. */
  callMs: number;
  connectMs: number;
  /** The server ended without being asked to. */
  onEnd(): void;
}

/** Connects to a server and asks it for its tools. Rejects where that takes too long. */
export async function connect(options: ConnectOptions): Promise<McpConnection> {
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
    const client = await within(connecting, signal);
    // Over HTTP nothing tells of the end: a call that gets no answer of the server's does.
    const onTrouble = (): void => {
      if (stdio !== undefined) return;
      onEnd();
      void client.close().catch(() => undefined);
    };
    const tools = await within(listTools(client, { server: name, callMs, onTrouble }), signal);
    return { tools, close: () => client.close().catch(() => undefined) };
  } catch (error) {
    void connecting.then((client) => client.close()).catch(() => undefined);
    await stdio?.close();
    throw error;
  }
}

/** Ends the wait with the signal, also where the other side does not look at it. */
function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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

async function listTools(client: MCPClient, options: CallOptions): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await client.listTools(cursor === undefined ? {} : { params: { cursor } });
    for (const { name, description = "", inputSchema } of answer.tools) {
      const full = `${options.server}_${name}`.replace(NOT_IN_NAMES, "_").slice(0, LONGEST_NAME);
      const said = toolText(description.slice(0, LONGEST_DESCRIPTION));
      tools.push({
        definition: { name: full, description: following(said), inputSchema: { ...inputSchema } },
        run: (input, { signal }) => call(client, name, input, options, signal),
      });
    }
    cursor = answer.nextCursor;
    if (cursor === undefined || tools.length >= MOST_TOOLS) break;
  }
  return tools.slice(0, MOST_TOOLS);
}

async function call(
  client: MCPClient,
  name: string,
  input: unknown,
  { callMs, onTrouble }: CallOptions,
  signal: AbortSignal,
): Promise<string> {
  const both = AbortSignal.any([signal, AbortSignal.timeout(callMs)]);
  const args = typeof input === "object" && input !== null ? { ...input } : {};
  const options = { signal: both, timeout: callMs };
  const result = await within(client.callTool({ name, arguments: args, options }), both).catch(
    (error: unknown) => {
      if (!signal.aborted && !isServersWord(error)) onTrouble();
      throw error;
    },
  );
  const text = contentText(result);
  if ("isError" in result && result.isError === true) throw new ToolError(text);
  return text;
}

/** A JSON-RPC error came from the server, which is there. */
function isServersWord(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "number";
}

/** The texts of a result; of anything else its kind. */
function contentText(result: object): string {
  if (!("content" in result) || !Array.isArray(result.content)) return JSON.stringify(result);
  const parts = result.content.map((part: { type?: unknown; text?: unknown }) =>
    typeof part.text === "string" ? part.text : `(${String(part.type)})`,
  );
  return parts.join("\n");
}
