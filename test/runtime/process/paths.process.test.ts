import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { listen } from "../../../runtime/process/listen.ts";
import { edgeFixture } from "../../support/edge.ts";

/** Sends a request line as it stands: an HTTP client would tidy the path up before. */
async function ask(port: number, target: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`GET ${target} HTTP/1.1\r\nHost: steward.lan\r\nConnection: close\r\n\r\n`);
  return text(socket);
}

test("no spelling of a path leads past the identity", async () => {
  const { app, requests } = edgeFixture({ adminToken: "the-admin-token-0123456789" });
  const server = await listen({
    fetch: (request, client) => app.fetch(request, client),
    hostname: "127.0.0.1",
    port: 0,
  });
  try {
    for (const target of [
      "/debug/processes",
      "/x/../debug/processes",
      "/healthz/../debug/processes",
      "/debug/./processes",
      "/debug//processes",
      "//debug/processes",
      "/%64ebug/processes",
      "/debug/%70rocesses",
      "/debug%2fprocesses",
      "/healthz/%2e%2e/debug/processes",
      "/healthz/..%2fdebug/processes",
      "/debug/processes/",
      "/debug/processes;x",
      "/debug/processes%00",
      "/DEBUG/processes",
      "\\debug\\processes",
      "http://steward.lan/debug/processes",
      "http://evil.example/debug/processes",
      "/_admin/sign-in/../../debug/processes",
      "/_admin/sign-in/../",
      "/_admin",
      "/_admin/../_admin/",
    ]) {
      const [line = ""] = (await ask(server.port, target)).split("\r\n");
      expect([target, line]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 (?:400|403|404) /)]);
    }
    expect(requests).toEqual([]);
    expect(await ask(server.port, "/debug/../healthz")).toMatch(/^HTTP\/1\.1 200 /);
  } finally {
    await server.close(0);
  }
});
