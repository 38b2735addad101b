import { randomUUID } from "node:crypto";

/** One question to the deployed service. */
export interface Check {
  /** What is asked, as a failure names it. */
  name: string;
  /** `undefined` when the answer is right, else what is wrong with it. Throws when none comes. */
  run(fetch: typeof globalThis.fetch, url: string): Promise<string | undefined>;
}

/** Time for one answer: it may have to wake a container. */
const ANSWER_TIMEOUT_MS = 10_000;

/** What every deployment has to answer before it counts. */
export function readinessChecks(publicWebhooks: boolean): Check[] {
  return [healthz, ...(publicWebhooks ? [challenge] : []), adminClosed];
}

const healthz: Check = {
  name: "GET /healthz",
  async run(fetch, url) {
    const response = await ask(fetch, `${url}/healthz`);
    return response.status === 200 ? undefined : `status ${response.status}, expected 200`;
  },
};

const challenge: Check = {
  name: "POST /slack/events with a url_verification",
  async run(fetch, url) {
    const expected = randomUUID();
    const response = await ask(fetch, `${url}/slack/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ type: "url_verification", challenge: expected }),
    });
    if (response.status !== 200) return `status ${response.status}, expected 200 with the challenge`;
    const body: unknown = await response.json();
    const echoed = typeof body === "object" && body !== null && "challenge" in body && body.challenge;
    return echoed === expected ? undefined : "the answer does not hold the challenge";
  },
};

const adminClosed: Check = {
  name: "GET /_admin/ without an identity",
  async run(fetch, url) {
    const { status } = await ask(fetch, `${url}/_admin/`, { redirect: "manual" });
    if (status < 300) return `status ${status}: the admin pages are open to everyone`;
    return status === 404 ? "status 404: the admin pages are missing" : undefined;
  },
};

function ask(fetch: typeof globalThis.fetch, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
}
