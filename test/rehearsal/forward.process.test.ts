import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { forwardUpgrade } from "../../rehearsal/cloudflare/index.ts";
import { listenOnLoopback } from "../../rehearsal/loopback.ts";

const UPGRADE = "GET / HTTP/1.1\r\nhost: here\r\nconnection: Upgrade\r\nupgrade: test\r\n\r\n";

test("a joined connection whose target has ended is closed, also where its client still sends", async () => {
  const target = createServer().on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: test\r\n\r\n");
    setImmediate(() => socket.destroy());
  });
  const behind = await listenOnLoopback(target, 0);
  const front = createServer().on("upgrade", (request, socket, head) => {
    forwardUpgrade(request, socket, head, { to: Number(new URL(behind.url).port), path: "/", headers: {} });
  });
  const { url, close } = await listenOnLoopback(front, 0);
  const client = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  client.on("error", () => {});
  client.write(UPGRADE);
  client.resume();
  await once(client, "end");
  client.end("what is left to say");
  const connections = promisify(front.getConnections.bind(front));
  await expect.poll(() => connections(), { timeout: 20_000 }).toBe(0);
  await close();
  await behind.close();
});
