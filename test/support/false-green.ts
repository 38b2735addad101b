import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { faultsOf, MENDED_MS, type Seen, type Tried } from "./faults.ts";

const SEEN_MS = 30_000;
const LOOK_MS = 1_000;

/**
 * Causes and repairs each fault, and checks that the service reports it only while it lasts.
 *
 * @returns The number of faults.
 */
export async function tryWords(tried: Tried): Promise<number> {
  const { url, operator } = tried;
  const headers = { ...operator, accept: "text/html" };
  const look = async (): Promise<Seen> => {
    const [page, ready, metrics] = await Promise.all([
      fetch(`${url}/_admin/`, { headers }),
      fetch(`${url}/readyz`),
      fetch(`${url}/_admin/api/metrics`, { headers: operator }),
    ]);
    const overview = await page.text();
    const word = /class="badge \w+" title="Overall state">(\w+)</.exec(overview)?.[1] ?? "none";
    return { word, overview, ready: ready.status, metrics: (await metrics.json()) as Seen["metrics"] };
  };
  const until = async (what: string, ms: number, fits: (seen: Seen) => boolean): Promise<Seen> => {
    const end = Date.now() + ms;
    for (;;) {
      const seen = await look().catch((error: unknown) => String(error));
      if (typeof seen !== "string" && fits(seen)) return seen;
      const last = typeof seen === "string" ? seen : JSON.stringify(summary(seen));
      if (Date.now() > end) expect.fail(`${what} is not told: ${last}`);
      await sleep(LOOK_MS);
    }
  };
  const faults = faultsOf(tried);
  for (const { fault, make, mend, told, stays, seenMs = SEEN_MS } of faults) {
    const before = await until(`health before ${fault}`, MENDED_MS, ({ word }) => word === "Healthy");
    await make();
    await until(fault, seenMs, (seen) => told(seen, before));
    await mend?.();
    if (!stays) await until(`the end of ${fault}`, MENDED_MS, (seen) => !told(seen, before));
  }
  return faults.length;
}

function summary({ word, ready, metrics, overview }: Seen): object {
  const problems = [...overview.matchAll(/<aside><h2>([^<]*)<\/h2>/g)].map(([, title]) => title);
  return { word, ready, problems, metrics };
}
