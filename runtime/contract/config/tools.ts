import * as z from "zod/mini";
import { chatAddress, withHelp, duration, httpUrl, integer, whenFieldsValid, secret } from "./values.ts";

/** An MCP server: a program that uses standard input and output, or a URL (streamable HTTP). */
const mcpServer = z
  .strictObject({
    command: z.optional(z.string().check(z.minLength(1))),
    args: z.optional(z.array(z.string())),
    env: withHelp(
      z.optional(z.record(z.string(), secret)),
      "Environment of the program, in addition to PATH and HOME.",
    ),
    url: z.optional(httpUrl),
    headers: z.optional(z.record(z.string(), secret)),
    timeout: withHelp(z._default(duration, "60s"), "How long one call may take."),
    enabled: z._default(z.boolean(), true),
  })
  .check(
    z.refine(({ command, url }) => (command === undefined) !== (url === undefined), {
      message: "needs exactly one of command, url",
      ...whenFieldsValid("command", "url"),
    }),
    z.refine(({ command, args, env }) => command !== undefined || (args === undefined && env === undefined), {
      message: "args and env are only allowed with command",
      ...whenFieldsValid("command", "args", "env"),
    }),
    z.refine(({ url, headers }) => url !== undefined || headers === undefined, {
      path: ["headers"],
      message: "headers are only allowed with url",
      ...whenFieldsValid("url", "headers"),
    }),
  );

export const TOOL_NAMES = [
  "read_file",
  "write_file",
  "list_files",
  "remember",
  "web_fetch",
  "send_message",
  "send_file",
  "ask_choices",
  "schedule",
] as const;

/** Config section `tools`: the agent's abilities besides answering. */
export const tools = z.prefault(
  z.strictObject({
    disabled: z._default(z.array(z.enum(TOOL_NAMES)), []),
    webFetch: z.prefault(
      z.strictObject({
        maxBytes: withHelp(
          z._default(integer(1_000, 10_000_000), 500_000),
          "Maximum number of bytes of a page that are read; the rest is left out.",
        ),
        timeout: z._default(duration, "20s"),
      }),
      {},
    ),
    sendMessage: z.prefault(
      z.strictObject({
        to: withHelp(
          z._default(z.array(chatAddress).check(z.maxLength(100)), []),
          "Chats to which the bot may send messages at the request of people in direct chats. Groups and schedules have their own `sendElsewhere`.",
        ),
      }),
      {},
    ),
    mcp: withHelp(
      z._default(z.record(z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/)), mcpServer), {}),
      "MCP servers by name. A server's tool is called `<name>_<tool>`.",
    ),
  }),
  {},
);

export type McpServer = z.output<typeof mcpServer>;
