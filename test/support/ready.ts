import { setTimeout as sleep } from "node:timers/promises";

const LONGEST_MS = 120_000;

/** Waits until `/readyz` reports this state. The requests do not wake the container. */
export async function answersState(url: string, wanted: string): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  let now = "no answer";
  while (now !== wanted) {
    if (performance.now() > end) throw new Error(`${url} is not ${wanted} but: ${now}`);
    now = await fetch(`${url}/readyz`)
      .then(async (response) => ((await response.json()) as { state: string }).state)
      .catch(String);
    if (now !== wanted) await sleep(50);
  }
}

interface Sleeper {
  inState(wanted: string): Promise<void>;
  request(path: string): Promise<Response>;
}

/** Visits a service until its hourly limit is reached. */
export async function useUpVisits({ inState, request }: Sleeper): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  for (let wait: string | null = null; wait !== "600";) {
    if (performance.now() > end) throw new Error(`visitors may still wake it: retry-after is ${wait}`);
    await inState("stopped");
    wait = (await request("/")).headers.get("retry-after");
  }
}
