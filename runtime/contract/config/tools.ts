import * as z from "zod";
import { chatAddress, duration, httpUrl, over, secret } from "./values.ts";

/** An MCP server: a program that speaks over its standard streams, or an address (streamable HTTP). */
const mcpServer = z
  .strictObject({
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: z
      .record(z.string(), secret)
      .optional()
      .describe("Environment of the program, beside PATH and HOME."),
    url: httpUrl.optional(),
    headers: z.record(z.string(), secret).optional(),
    timeout: duration.default("60s").describe("How long one call may take."),
    enabled: z.boolean().default(true),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "needs exactly one of command, url",
    ...over("command", "url"),
  })
  .refine(({ command, args, env }) => command !== undefined || (args === undefined && env === undefined), {
    message: "args and env go with command",
    ...over("command", "args", "env"),
  })
  .refine(({ url, headers }) => url !== undefined || headers === undefined, {
    path: ["headers"],
    message: "headers go with url",
    ...over("url", "headers"),
  });

/** The tools that come with steward. */
export const TOOL_NAMES = [
  "read_file",
  "write_file",
  "list_files",
  "remember",
  "web_fetch",
  "send_message",
  "schedule",
] as const;

/** `tools`: what the agent may do beside talking. */
export const tools = z
  .strictObject({
    disabled: z.array(z.enum(TOOL_NAMES)).default([]),
    webFetch: z
      .strictObject({
        maxBytes: z
          .int()
          .min(1_000)
          .max(10_000_000)
          .default(500_000)
          .describe("Bytes of an answer that are read; the rest is left out."),
        timeout: duration.default("20s"),
      })
      .prefault({}),
    sendMessage: z
      .strictObject({
        to: z
          .array(chatAddress)
          .max(100)
          .default([])
          .describe("Chats that the agent may write to, beside the one that it is asked in."),
      })
      .prefault({}),
    mcp: z
      .record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), mcpServer)
      .default({})
      .describe("By name; a tool of a server is called `<name>_<tool>`."),
  })
  .prefault({});

/** One MCP server after defaults. */
export type McpServer = z.output<typeof mcpServer>;
