import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { listen } from "../../../runtime/process/listen.ts";

test("a server hands on the address of the connection, not what the request says of itself", async () => {
  const server = await listen({
    fetch: (_request, client) => Response.json(client),
    hostname: "127.0.0.1",
    port: 0,
  });
  try {
    for (const localAddress of ["127.0.0.1", "127.0.0.2"]) {
      const headers = {
        "x-forwarded-for": "192.0.2.1",
        "x-real-ip": "192.0.2.1",
        forwarded: "for=192.0.2.1",
      };
      const request = get({ host: "127.0.0.1", port: server.port, localAddress, headers, agent: false });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      expect(JSON.parse(await text(response))).toEqual({ clientAddress: localAddress });
    }
  } finally {
    await server.close(0);
  }
});
