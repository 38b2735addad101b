import { createInterface } from "node:readline";

/** A JSON-RPC message. */
export interface Message {
  id?: number | string;
  method?: string;
  params?: { name?: string; arguments?: Record<string, unknown>; protocolVersion?: string };
}

/** Longer than a provider takes. */
const LONG = "a-name-that-says-all-of-what-this-tool-does-and-when-to-use-it-";

/** Answers one message of MCP (https://modelcontextprotocol.io/specification/2025-06-18); a notification has no answer. */
export function answer({ id, method, params }: Message): object | undefined {
  if (id === undefined) return undefined;
  const result = resultOf(method, params);
  return result === undefined
    ? { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } }
    : { jsonrpc: "2.0", id, result };
}

function resultOf(method: string | undefined, params: Message["params"]): object | undefined {
  if (method === "initialize") {
    const protocolVersion = params?.protocolVersion ?? "2025-06-18";
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "stand-in", version: "1" } };
  }
  if (method === "tools/list") {
    const inputSchema = { type: "object", properties: { text: { type: "string" } } };
    const odd = {
      properties: { $top: { type: "number" } },
      anyOf: [{ properties: { id: {} }, required: ["id"] }],
    };
    const unusable = { type: "object", properties: { a: { properties: { $b: {} } } } };
    return {
      tools: [
        ...["echo", "environment", "fail", "end"].map((name) => ({ name, description: name, inputSchema })),
        ...["1", "2"].map((end) => ({ name: LONG + end, inputSchema })),
        { name: "odd", inputSchema: odd },
        { name: "unusable", inputSchema: unusable },
        { name: "draw", inputSchema: { type: "object" } },
      ],
    };
  }
  if (method !== "tools/call") return undefined;
  if (params?.name === "end") process.exit(3);
  if (params?.name === "odd" || params?.name?.startsWith(LONG))
    return { content: [], structuredContent: params };
  if (params?.name === "draw") return { content: params.arguments?.["content"] };
  const text =
    params?.name === "environment"
      ? Object.keys(process.env).sort().join(" ")
      : String(params?.arguments?.["text"]);
  return { content: [{ type: "text", text }], isError: params?.name === "fail" };
}

// Run as a program it speaks over its standard streams, a message a line.
if (process.argv[2] === "serve") {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const reply = answer(JSON.parse(line) as Message);
    if (reply !== undefined) process.stdout.write(`${JSON.stringify(reply)}\n`);
  });
}
