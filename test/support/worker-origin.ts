import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** An address that is served until it is closed. */
export interface WorkerOrigin {
  url: string;
  close(): Promise<void>;
}

/**
 * A loopback address that stands for one Worker of an account with several: the account's own stands for the one that
 * was deployed last. `fetch` cannot name another host.
 */
export async function startWorkerOrigin(front: { url: string }, hostname: string): Promise<WorkerOrigin> {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: hostname };
    const onward = request(`${front.url}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
