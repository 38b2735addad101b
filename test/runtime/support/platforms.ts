import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { KEEP_ALIVE_MS } from "../../../runtime/process/server.ts";

/** One request that a stand-in got. */
interface Call {
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

const UNASKED =
  /^GET .*\/v1\/models(?:\/|$)|^GET .*\/(?:users\/@me|(?:channels|guilds)\/\d+)$|^POST .*\/(?:auth\.test|(?:users|conversations)\.info)$|threads\.setStatus$/;

/** Answers one request. */
export type Answer = (response: ServerResponse, call: Call) => void | Promise<void>;

/** A server whose answers a test sets. It ends with the test. */
export interface ScriptedServer {
  url: string;
  /** All but what a gateway asks by itself, at any time. */
  calls: Call[];
  /** What it asks by itself: which models there are, whether a token is taken, and the names of people and places. */
  catalogCalls: Call[];
  /** Sets the answer to them; not set, it is 404. */
  catalog(answer: Answer): void;
  /** The answers to come, in order; after the last of them the usual one again. */
  next(...answers: Answer[]): void;
}

/** Starts a server that answers as scripted. */
export async function startScripted(usual: Answer): Promise<ScriptedServer> {
  const calls: Call[] = [];
  const catalogCalls: Call[] = [];
  let catalog: Answer = (response) => void response.writeHead(404).end();
  const queue: Answer[] = [];
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const call = { path: request.url ?? "", headers: request.headers, body };
      if (UNASKED.test(`${request.method} ${call.path}`)) {
        catalogCalls.push(call);
        return void catalog(response, call);
      }
      calls.push(call);
      void (queue.shift() ?? usual)(response, call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls,
    catalogCalls,
    catalog: (answer) => void (catalog = answer),
    next: (...answers) => void queue.push(...answers),
  };
}

/** Answers JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
}

/** Answers an error in Anthropic's form. */
export function modelError(status: number, type: string, message: string, headers = {}): Answer {
  return json(status, { type: "error", error: { type, message } }, headers);
}

/** How a streamed answer may go wrong. */
export interface StreamFault {
  /** Ends the response behind the text, before the model has said that it is done. */
  cut?: boolean;
  stopReason?: string;
  /** Waits before the first word. */
  delayMs?: number;
  /** Waits for it before the first word. */
  until?: Promise<unknown>;
  /** Says no more behind the text, and does not end. */
  stall?: boolean;
}

/** Streams an answer in Anthropic's form, word by word. */
export function modelStream(text: string, fault: StreamFault = {}): Answer {
  return async (response) => {
    const send = (type: string, data: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = { input_tokens: 12, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    await fault.until;
    send("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } });
    send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
    for (const word of text.split(/(?<= )/)) {
      send("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } });
    }
    if (fault.cut) return void response.end();
    if (fault.stall) return;
    send("content_block_stop", { index: 0 });
    const delta = { stop_reason: fault.stopReason ?? "end_turn", stop_sequence: null };
    send("message_delta", { delta, usage: { output_tokens: 34 } });
    send("message_stop", {});
    response.end();
  };
}

interface ModelCall {
  model: string;
  system?: { text: string }[];
  messages: { role: string; content: { text: string }[] }[];
}

/** A message without the speaker's name before it, which has tests of its own. */
export function words(text: string | undefined): string {
  return String(text).replace(/^\[[^\]]+\]: /, "");
}

/** Stands in for Anthropic's Messages API; usually it repeats the last message. */
export async function startModel() {
  const server = await startScripted(async (response, call) => {
    const request: ModelCall = JSON.parse(call.body);
    await modelStream(`You said: ${words(request.messages.at(-1)?.content.at(-1)?.text)}`)(response, call);
  });
  // https://docs.claude.com/en/api/models: every model is known, also by an alias.
  server.catalog((response, { path }) => {
    const id = decodeURIComponent(path.split("/").at(-1) ?? "");
    const model = { type: "model", id, display_name: id, created_at: "2026-01-01T00:00:00Z" };
    return json(200, model)(response, { path, headers: {}, body: "" });
  });
  /** The conversations that it was asked with, as `role: text` lines. */
  const asked = (): string[][] =>
    server.calls.map(({ body }) => {
      const request: ModelCall = JSON.parse(body);
      return request.messages.flatMap(({ role, content }) =>
        content.map(({ text }) => `${role}: ${words(text)}`),
      );
    });
  return { ...server, asked };
}

/** Stands in for Slack's Web API; usually it takes every post. */
export async function startSlack() {
  const server = await startScripted(json(200, { ok: true, ts: "1.1" }));
  server.catalog(json(200, { ok: true }));
  /** What was posted, also where the answer was an error. */
  const posts = () =>
    server.calls.map(({ body }) => {
      const form = new URLSearchParams(body);
      return { channel: form.get("channel"), text: form.get("text"), thread: form.get("thread_ts") };
    });
  return { ...server, apiUrl: `${server.url}/api/`, posts };
}
