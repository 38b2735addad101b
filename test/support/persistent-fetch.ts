import { setTimeout as sleep } from "node:timers/promises";

const ATTEMPTS = 5;
const PAUSE_MS = 200;

/** Repeats a request if its connection fails. Returns any response, whatever its status. */
export async function persistentFetch(url: string, init?: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await fetch(url, init);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
}
