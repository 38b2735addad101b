import { createServer, request } from "node:http";
import { listenOnLoopback, type LoopbackServer } from "../../rehearsal/loopback.ts";

/**
 * Starts a loopback address for one of several Workers: only a Host header selects it, and `fetch` cannot set that
 * header.
 */
export function startWorkerOrigin(front: { url: string }, hostname: string): Promise<LoopbackServer> {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: hostname };
    const onward = request(`${front.url}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return listenOnLoopback(server, 0);
}
