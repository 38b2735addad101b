import { openIdentityGateway } from "../../support/identity-keys.ts";
import { figure, median, type Figure } from "../../support/measure.ts";
import { startWorker } from "../../support/worker.ts";

const REQUESTS = 300;
const CHALLENGE = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ type: "url_verification", challenge: "a challenge" }),
};

/** What a route's identity check adds to a request in workerd once the gateway's keys are there. */
export async function benchAuth({ runs }: { runs: number }): Promise<Figure[]> {
  const keys = await openIdentityGateway();
  const open = await startWorker();
  const closed = await startWorker({ PUBLIC_WEBHOOKS: "false", ...keys.variables });
  const added: number[] = [];
  try {
    const [openUrl, closedUrl] = [await open.origin(), await closed.origin()];
    // Each is the same work but for the identity, and in turn, so that the machine is the same for both.
    for (let run = -1; run < runs; run += 1) {
      const without = await times(openUrl, {});
      const withIdentity = await times(closedUrl, keys.headers);
      if (run >= 0) added.push(median(withIdentity) - median(without));
    }
  } finally {
    await Promise.all([open.stop(), closed.stop(), keys.close()]);
  }
  return [figure("what a route's identity check adds", "ms", added, 0.5)];
}

async function times(origin: string, headers: Record<string, string>): Promise<number[]> {
  const found: number[] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    const started = performance.now();
    const answer = await fetch(`${origin}/slack/events`, {
      ...CHALLENGE,
      headers: { ...CHALLENGE.headers, ...headers },
    });
    await answer.text();
    if (answer.status !== 200) throw new Error(`the challenge was answered ${answer.status}`);
    found.push(performance.now() - started);
  }
  return found;
}
