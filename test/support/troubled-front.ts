import { createServer, request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import { KEEP_ALIVE_MS } from "../../runtime/process/server.ts";
import { generator } from "./random.ts";

/** Proxy for Slack and the model. */
export interface TroubledFront {
  modelUrl: string;
  slackApiUrl: string;
  connect(slackApiUrl: string): void;
  trouble: boolean;
  /** Faults of every request, even without `trouble`. */
  always: { model?: ModelFault | undefined; slack?: SlackFault | undefined };
  faults: Record<string, number>;
  close(): void;
}

type Fault = (response: ServerResponse, events: readonly string[]) => void;

const STREAM = { "content-type": "text/event-stream" };

/** Returns a fault: a stream that breaks off after a share of its events (0 to 1) and some bytes. */
function cut(share: number, bytes: number): Fault {
  return (response, events) => {
    const whole = Math.floor(events.length * share);
    response.writeHead(200, STREAM);
    response.flushHeaders();
    response.write(events.slice(0, whole).join("") + (events[whole] ?? "").slice(0, bytes));
    setTimeout(() => response.destroy(), 20);
  };
}

function answer(status: number, body: string, headers: Record<string, string> = {}): Fault {
  return (response) => void response.writeHead(status, headers).end(body);
}

const JSON_TYPE = { "content-type": "application/json" };
const OVERLOADED = JSON.stringify({
  type: "error",
  error: { type: "overloaded_error", message: "Overloaded" },
});
const LIMITED = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } });

const MODEL_FAULTS = {
  "cut before the header": (response) => void response.destroy(),
  "cut behind the header": cut(0, 0),
  "cut within the first event": cut(0, 9),
  "cut in the middle": cut(0.5, 0),
  "cut within an event": cut(0.5, 14),
  "cut before the end": cut(0.99, 0),
  overloaded: answer(529, OVERLOADED, JSON_TYPE),
  unavailable: answer(503, "upstream connect error"),
  limited: answer(429, LIMITED, { ...JSON_TYPE, "retry-after": "3" }),
  "a page": answer(200, "<html>Please log in</html>", { "content-type": "text/html" }),
  "a bad gateway": answer(502, "<html>502 Bad Gateway</html>", { "content-type": "text/html" }),
  "an error within the stream": (response, events) => {
    const error = `event: error\ndata: ${OVERLOADED}\n\n`;
    response.writeHead(200, STREAM).end([...events.slice(0, 3), error].join(""));
  },
  "an empty text": (response, [start = "", begin = "", ...rest]) => {
    response.writeHead(200, STREAM).end([start, begin, ...rest.slice(-3)].join(""));
  },
} satisfies Record<string, Fault>;

const WRONG_KEY = JSON.stringify({
  type: "error",
  error: { type: "authentication_error", message: "invalid x-api-key" },
});
/** Faults that last until a person fixes them. */
const MODEL_REFUSALS = { "a wrong key": answer(401, WRONG_KEY, JSON_TYPE) };
const SLACK_REFUSALS = {
  "a revoked token": answer(200, '{"ok":false,"error":"token_revoked"}', JSON_TYPE),
};

type ModelFault = keyof typeof MODEL_FAULTS | keyof typeof MODEL_REFUSALS;
type SlackFault = keyof typeof SLACK_FAULTS | keyof typeof SLACK_REFUSALS;

/** Faults in which Slack does not accept the request (https://docs.slack.dev/apis/web-api/rate-limits). */
const SLACK_FAULTS = {
  "Slack fails": answer(500, ""),
  "Slack limits": answer(429, "", { "retry-after": "1" }),
  "Slack breaks off": (response) => void response.destroy(),
} satisfies Record<string, Fault>;

/**
 * Starts a proxy for Slack, which also acts as a model.
 *
 * @param share Share of requests that fail while `trouble` is true, from 0 to 1.
 */
export async function startTroubledFront(seed: number, share: number): Promise<TroubledFront> {
  const random = generator(seed);
  let slack = "";
  const front = {
    trouble: false,
    always: {} as TroubledFront["always"],
    faults: {} as Record<string, number>,
  };
  const fault = (faults: Record<string, Fault>): Fault | undefined => {
    if (!front.trouble || random() >= share) return undefined;
    const names = Object.keys(faults);
    const name = names[Math.floor(random() * names.length)] ?? "";
    front.faults[name] = (front.faults[name] ?? 0) + 1;
    return faults[name];
  };
  const options = { keepAliveTimeout: KEEP_ALIVE_MS };
  const server = createServer(options, (request, response) => void serve(request, response));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const path = request.url ?? "";
    if (path.startsWith("/slack/")) {
      const forced = front.always.slack && { ...SLACK_FAULTS, ...SLACK_REFUSALS }[front.always.slack];
      const failing = forced ?? (path.includes("chat.") ? fault(SLACK_FAULTS) : undefined);
      return failing === undefined
        ? forward(request, response, body, slack + path.slice(7))
        : failing(response, []);
    }
    if (!path.endsWith("/v1/messages"))
      return void response.writeHead(200, JSON_TYPE).end('{"id":"m","data":[]}');
    const events = streamOf(body.toString());
    const forced = front.always.model && { ...MODEL_FAULTS, ...MODEL_REFUSALS }[front.always.model];
    const failing: Fault | undefined = forced ?? fault(MODEL_FAULTS);
    if (failing !== undefined) return failing(response, events);
    response.writeHead(200, STREAM).end(events.join(""));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const url = `http://127.0.0.1:${address.port}`;
  return Object.assign(front, {
    modelUrl: url,
    slackApiUrl: `${url}/slack/`,
    connect: (to: string) => void (slack = to),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

function forward(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  url: string,
): void {
  const { host: _host, connection: _connection, ...kept } = headers;
  const onward = ask(url, { method, headers: kept }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(response);
  });
  onward.on("error", () => response.destroy());
  onward.end(body);
}

interface Asked {
  messages: { content: string | { text?: string }[] }[];
}

/**
 * Returns a streamed answer that repeats the request's last message
 * (https://docs.claude.com/en/docs/build-with-claude/streaming).
 */
function streamOf(body: string): string[] {
  const { messages } = JSON.parse(body) as Asked;
  const last = messages.at(-1)?.content ?? "";
  const text = typeof last === "string" ? last : last.map((part) => part.text ?? "").join(" ");
  const event = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const usage = { input_tokens: 12, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  return [
    event("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...["You said: ", ...(text.match(/\S+\s*/g) ?? [])].map((word) =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } }),
    ),
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 34 },
    }),
    event("message_stop", {}),
  ];
}
