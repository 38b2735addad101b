import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen, yieldForHangUp } from "../../../runtime/process/listen.ts";

const REQUEST = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n";

test("an idle connection stays open for longer than a reverse proxy keeps it", async () => {
  const server = await listen({ fetch: async () => new Response(), hostname: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  const { headers } = await fetch(`http://127.0.0.1:${server.port}/`);
  expect(headers.get("keep-alive")).toBe("timeout=75");
});

test.each([
  ["is gone", true],
  ["waits for its answer", false],
])("of a request that lay unread, whose sender %s, that is noticed", async (_sender, isGone) => {
  const seen: { atFirst: boolean; later: boolean }[] = [];
  const server = await listen({
    async fetch({ signal }) {
      const atFirst = signal.aborted;
      await yieldForHangUp(signal);
      seen.push({ atFirst, later: signal.aborted });
      return new Response();
    },
    hostname: "127.0.0.1",
    port: 0,
  });
  onTestFinished(() => server.close(0));
  // The adapter is loaded with the first request.
  await fetch(`http://127.0.0.1:${server.port}/`, { method: "POST" });
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");

  socket.write(REQUEST);
  // Within one turn of the event loop: the server reads both together.
  if (isGone) socket.destroy();

  await expect.poll(() => seen.at(1)).toEqual({ atFirst: false, later: isGone });
  socket.destroy();
});
