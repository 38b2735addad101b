import { spawn, type ChildProcess } from "node:child_process";
import type { MCPTransport, JSONRPCMessage } from "@ai-sdk/mcp";

const LONGEST_LINE = 10_000_000;
const END_MS = 2_000;
/** Milliseconds to wait for the remaining output of a program that has exited. */
const LAST_WORDS_MS = 300;

/** Program that runs an MCP server. `env` is its complete environment. */
export interface StdioOptions {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  onEnd(): void;
}

/**
 * Transport for MCP over a program's standard streams, one message per line:
 * https://modelcontextprotocol.io/specification/2025-06-18/basic/transports. The library's own transport would expose
 * more of our environment to third-party programs.
 */
export class StdioTransport implements MCPTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  #child: ChildProcess | undefined;
  #rest = "";

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    const { command, args, env, onEnd } = this.#options;
    return new Promise((resolve, reject) => {
      const child = spawn(command, [...args], { env, stdio: ["pipe", "pipe", "ignore"] });
      this.#child = child;
      child.on("spawn", resolve);
      child.on("error", (error) => {
        reject(error);
        this.onerror?.(error);
      });
      // Processes that the program started may keep its output open, which would delay "close" until they end.
      child.on("exit", () => void setTimeout(() => child.stdout?.destroy(), LAST_WORDS_MS));
      child.on("close", () => {
        this.onclose?.();
        onEnd();
      });
      child.stdin?.on("error", (error) => this.onerror?.(error));
      child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const stdin = this.#child?.stdin;
      if (!stdin?.writable) return void reject(new Error("The server has ended."));
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Asks the program to end, and kills it if it does not end in time. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    child.stdin?.end();
    const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(late);
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > LONGEST_LINE) this.#child?.kill("SIGKILL");
    for (const line of lines) {
      if (line.trim() === "") continue;
      try {
        this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
      } catch (error) {
        this.onerror?.(error instanceof Error ? error : new Error("unreadable message"));
      }
    }
  }
}
