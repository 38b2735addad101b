import { backoffMs } from "../../../shared/backoff.ts";
import type { McpServer } from "../../../contract/config/tools.ts";
import { resolveSecret } from "../../../contract/config/text.ts";
import { parseDuration } from "../../../contract/duration.ts";
import type { Environment } from "../../../contract/environment.ts";
import type { ToolServerHealth } from "../../../contract/control.ts";
import type { Log } from "../../../shared/log.ts";
import type { Redactor } from "../../../shared/redact.ts";
import type { Report } from "../../contract-report.ts";
import { label, type Prompt, prompt } from "../../prompt/text.ts";
import type { Tool } from "../tools/tool.ts";
import type { McpConnection } from "./connection.ts";

const LONGEST_PROBLEM = 300;
const CONNECT_MS = 10_000;
const RETRY = { firstMs: 5_000, longestMs: 5 * 60_000 };

export interface McpServersOptions {
  servers: Readonly<Record<string, McpServer>>;
  environment: Environment;
  redact: Redactor;
  report: Report;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

interface ServerConnection {
  connection?: McpConnection;
  connecting?: Promise<void>;
  failures: number;
  /** Earliest time of the next attempt, in milliseconds since the epoch. */
  waitUntil: number;
  problem?: string;
}

/**
 * Connects to the configured MCP servers in parallel, on the first question. A failing server is reported and retried
 * later, and never prevents an answer.
 */
export class McpServers {
  readonly #options: McpServersOptions;
  readonly #standings = new Map<string, ServerConnection>();
  #closed = false;

  constructor(options: McpServersOptions) {
    this.#options = options;
    for (const [name, { enabled }] of Object.entries(options.servers)) {
      if (enabled) this.#standings.set(name, { failures: 0, waitUntil: 0 });
    }
  }

  /** Returns the connected servers' tools, and notes about unavailable servers and tools. */
  async open(signal: AbortSignal): Promise<{ tools: Tool[]; notes: Prompt[] }> {
    const all = [...this.#standings];
    await Promise.all(all.map(([name, standing]) => this.#connect(name, standing)));
    signal.throwIfAborted();
    const leftOut = all.flatMap(([name, { connection }]) =>
      (connection?.leftOut ?? []).map((tool) => [name, tool.name] as const),
    );
    const missing = all.filter(([, { connection }]) => connection === undefined).map(([name]) => name);
    return {
      tools: all.flatMap(([, { connection }]) => connection?.tools ?? []),
      notes: [
        ...missing.map((name) => prompt`The tools of the server ${label(name, 64)} are not available now.`),
        ...leftOut.map(
          ([name, tool]) =>
            prompt`The tool ${label(tool, 64)} of the server ${label(name, 64)} cannot be used.`,
        ),
      ],
    };
  }

  /** Returns each server's state without a request. */
  health(): ToolServerHealth[] {
    return [...this.#standings].map(([name, { connection, problem }]): ToolServerHealth => {
      if (connection !== undefined)
        return { name, state: "ready", tools: connection.tools.length, leftOut: connection.leftOut };
      return problem === undefined
        ? { name, state: "unknown", tools: 0, leftOut: [] }
        : { name, state: "failing", tools: 0, leftOut: [], problem };
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#standings.values()];
    await Promise.all(
      all.map(async (standing) => {
        await standing.connecting;
        await standing.connection?.close();
      }),
    );
  }

  #connect(name: string, standing: ServerConnection): Promise<void> {
    const { clock } = this.#options;
    if (standing.connection !== undefined || clock() < standing.waitUntil || this.#closed)
      return Promise.resolve();
    standing.connecting ??= this.#try(name, standing).finally(() => delete standing.connecting);
    return standing.connecting;
  }

  async #try(name: string, standing: ServerConnection): Promise<void> {
    const { servers, environment, redact, report, log } = this.#options;
    const server = servers[name];
    if (server === undefined) return;
    try {
      const { connectMcpServer } = await import("./connection.ts");
      let own: McpConnection | undefined;
      const connection = await connectMcpServer({
        name,
        server: {
          ...(server.command !== undefined && { command: server.command }),
          args: server.args ?? [],
          ...(server.url !== undefined && { url: server.url }),
          env: { ...basics(environment), ...resolved(server.env, environment) },
          headers: resolved(server.headers, environment),
        },
        callMs: parseDuration(server.timeout) ?? CONNECT_MS,
        connectMs: CONNECT_MS,
        onEnd: () => {
          // A call on a previous connection may report the end of that connection late.
          if (own === undefined || standing.connection !== own) return;
          delete standing.connection;
          if (!this.#closed) this.#failed(name, standing, "the connection ended");
        },
      });
      own = connection;
      standing.connection = connection;
      standing.failures = 0;
      log.info("MCP server connected", { server: name, tools: connection.tools.length });
      for (const { name: tool, problem } of connection.leftOut) {
        log.warn("a tool of an MCP server is left out", { server: name, tool: tool.slice(0, 200), problem });
        report("tool", `${name}: ${tool}: ${problem}`);
      }
    } catch (error) {
      this.#failed(name, standing, redact(error instanceof Error ? error.message : "unknown error"));
    }
  }

  #failed(name: string, standing: ServerConnection, detail: string): void {
    standing.failures += 1;
    standing.problem = detail.slice(0, LONGEST_PROBLEM);
    const wait = backoffMs(RETRY, standing.failures);
    standing.waitUntil = this.#options.clock() + wait;
    this.#options.log.warn("an MCP server is not available", {
      server: name,
      detail: standing.problem,
      retryInMs: wait,
    });
  }
}

function basics({ PATH = "", HOME = "" }: Environment): Record<string, string> {
  return { PATH, HOME };
}

function resolved(values: McpServer["env"], environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => [name, resolveSecret(value, environment)]),
  );
}
