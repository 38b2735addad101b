import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { listenOnLoopback } from "../../../rehearsal/loopback.ts";

/** One request that changed or asked for something. */
export interface RecordedRequest {
  method: string;
  path: string;
  query?: string;
  body?: unknown;
}

export interface Recorder {
  url: string;
  /** Takes the requests since the last call. */
  take(): RecordedRequest[];
  /** What is stored at a path, to change it behind the provider's back. */
  stored: Map<string, Record<string, unknown>>;
  close(): Promise<void>;
}

/**
 * A server that takes everything, gives it an id and returns it, as far as Cloudflare's own answers
 * matter: bindings come back sorted and without the text of secrets, with the id of a namespace.
 */
export async function startRecorder(): Promise<Recorder> {
  const stored = new Map<string, Record<string, unknown>>();
  const requests: RecordedRequest[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://recorder");
    const body = await bodyOf(request);
    const method = request.method ?? "GET";
    requests.push({
      method,
      path: url.pathname,
      ...(url.search && { query: url.search }),
      ...(body !== undefined && { body }),
    });
    const result = answer(stored, method, url.pathname, body);
    response.writeHead(result === undefined ? 404 : 200, { "content-type": "application/json" });
    const errors = result === undefined ? [{ code: 10007, message: "not found" }] : [];
    response.end(
      JSON.stringify({ success: result !== undefined, errors, messages: [], result: result ?? null }),
    );
  });
  const { url, close } = await listenOnLoopback(server, 0);
  return { url, stored, take: () => requests.splice(0), close };
}

type Body = Record<string, unknown> | undefined;

function answer(stored: Map<string, Record<string, unknown>>, method: string, path: string, body: Body) {
  if (method === "POST") {
    const id = path.endsWith("/r2/buckets") ? String(body?.["name"]) : randomUUID();
    const item = asCloudflare(path, { id, ...body });
    stored.set(`${path}/${id}`, item);
    return item;
  }
  if (method === "PUT") {
    const item = { ...stored.get(path), ...body };
    stored.set(path, item);
    return item;
  }
  const item = stored.get(path);
  if (method === "DELETE") stored.delete(path);
  return item;
}

function asCloudflare(path: string, item: Record<string, unknown>): Record<string, unknown> {
  if (path.endsWith("/access/apps")) return { ...item, aud: randomBytes(32).toString("hex") };
  if (!path.endsWith("/versions")) return item;
  const { bindings, migrations, ...rest } = item;
  const list: Record<string, unknown>[] = Array.isArray(bindings) ? bindings : [];
  return {
    ...rest,
    number: 1,
    ...(migrations !== undefined && { migration_tag: "v1" }),
    bindings: list.map(bindingAnswer).sort((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1)),
  };
}

function bindingAnswer(binding: Record<string, unknown>): Record<string, unknown> {
  const { text, ...open } = binding;
  if (binding["type"] === "durable_object_namespace") return { ...open, namespace_id: "a-namespace" };
  return binding["type"] === "secret_text" || text === undefined ? open : { ...open, text };
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
