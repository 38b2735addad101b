import { createServer, request } from "node:http";
import { listenOnLoopback, type LoopbackServer } from "../../rehearsal/loopback.ts";

/**
 * Starts a loopback address for one Worker of an account with several. The account's address serves the Worker deployed
 * last: only a Host header selects another one, and `fetch` cannot set it.
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
