import { setTimeout as sleep } from "node:timers/promises";
import { ROUTES } from "../../../runtime/contract/routes.ts";

const ANSWER_MS = 5_000;
const BACK_MS = 60_000;
const RETRY_MS = 500;

/** By what a deployment is known from outside: the bundle that answers, and the secrets that it runs with. */
export async function answerOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}${ROUTES.ready.path}`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { bundle, attestation } = (await response.json()) as Record<string, unknown>;
    return typeof bundle === "string" ? [bundle, attestation].join(" ").trimEnd() : undefined;
  } catch {
    return undefined;
  }
}

/** Waits until this answers; where nothing did before, there is nothing to wait for. Throws where it does not come. */
export async function untilAnswers(url: string, wanted: string | undefined): Promise<void> {
  if (wanted === undefined) return;
  const end = Date.now() + BACK_MS;
  for (;;) {
    const answer = await answerOf(url);
    if (answer === wanted) return;
    if (Date.now() > end) throw new Error(`${url} answers as ${answer ?? "nothing"}, not as ${wanted}`);
    await sleep(RETRY_MS);
  }
}
