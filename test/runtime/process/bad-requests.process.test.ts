import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../runtime/process/listen.ts";
import { edgeFixture, slackEvent } from "../../support/edge.ts";

const { app, admitted } = edgeFixture();
const SHORT = { headersMs: 200, requestMs: 400, lookMs: 20 };

async function start(timeLimits?: typeof SHORT) {
  const server = await listen({
    fetch: (request, client) => app.fetch(request, client),
    hostname: "127.0.0.1",
    port: 0,
    ...(timeLimits && { timeLimits }),
  });
  onTestFinished(() => server.close(0));
  /** Sends bytes unchanged, leaves the connection open, and returns everything that comes back until it is closed. */
  return async (bytes: string): Promise<string> => {
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(bytes);
    return text(socket);
  };
}

/** The status and the code of an answer. */
function told(answer: string): unknown[] {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head).toContain("connection: close");
  expect(head).toContain("content-type: application/problem+json");
  return [Number(head.split(" ")[1]), JSON.parse(body).code];
}

test("what is no HTTP request is told so, and the connection ends", async () => {
  const send = await start();
  expect(told(await send("GET /healthz>\u0000 HTTP/1.1\r\n\r\n"))).toEqual([400, "request_malformed"]);
  expect(told(await send("hello\r\n\r\n"))).toEqual([400, "request_malformed"]);
  const header = `x-long: ${"x".repeat(20_000)}`;
  expect(told(await send(`GET / HTTP/1.1\r\nhost: a\r\n${header}\r\n\r\n`))).toEqual([
    431,
    "headers_too_large",
  ]);
});

test("headers that do not come to their end keep no connection", async () => {
  const send = await start(SHORT);
  expect(told(await send("GET / HTTP/1.1\r\nhost: a\r\nx-slow: "))).toEqual([408, "request_too_slow"]);
});

test("a body that does not come to its end keeps no connection, and nothing of it is recorded", async () => {
  const send = await start(SHORT);
  const body = JSON.stringify(slackEvent());
  const head = `POST /slack/events HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  expect(told(await send(`${head}\r\n\r\n${body.slice(0, -1)}`))).toEqual([408, "request_too_slow"]);
  expect(admitted).toEqual([]);
});
