import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { closeServer, KEEP_ALIVE_MS } from "../../runtime/process/server.ts";
import { toolUseStream } from "../runtime/support/models.ts";
import { json, modelStream } from "../runtime/support/platforms.ts";

export interface ScriptedCall {
  name: string;
  input: object;
}

/** Starts a stand-in for Anthropic's Messages API that calls the scripted tools in order, whatever their results. */
export async function startScriptedModel(hostname: string, script: readonly ScriptedCall[]) {
  const bodies: string[] = [];
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, async (request, response) => {
    const call = { path: request.url ?? "", headers: request.headers, body: await text(request) };
    if (request.method === "GET") return void json(200, { type: "model", id: "scripted" })(response, call);
    bodies.push(call.body);
    const next = script[bodies.length - 1];
    const answer = next ? toolUseStream([{ id: `toolu_${bodies.length}`, ...next }]) : modelStream("Done.");
    await answer(response, call);
  });
  await new Promise<void>((resolve) => server.listen(0, hostname, resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://${hostname}:${port}`, bodies, close: () => closeServer(server, 0) };
}
