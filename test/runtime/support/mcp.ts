import { createServer } from "node:http";
import path from "node:path";
import { onTestFinished } from "vitest";
import { answer, type Message } from "./mcp-server.ts";

/** The command that runs a server over its standard streams. */
export const STDIO_SERVER = {
  command: process.execPath,
  args: [path.join(import.meta.dirname, "mcp-server.ts"), "serve"],
};

/** Starts a server over streamable HTTP. It ends with the test. */
export async function startHttpServer(): Promise<{ url: string; authorizations: unknown[] }> {
  const authorizations: unknown[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const reply = answer(JSON.parse(body) as Message);
      if (reply === undefined) return void response.writeHead(202).end();
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`, authorizations };
}
