import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { Platform } from "../../runtime/contract/delivery.ts";
import { fixOf, type ErrorCode } from "../../runtime/contract/errors.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { ROUTES, type RouteAccess } from "../../runtime/contract/routes.ts";
import { askAsStack } from "./ask-as-stack.ts";

export interface Check {
  name: string;
  /** Name of a group whose checks share one line of the report if they pass. Default: a separate line. */
  group?: string;
  /** Resolves to `undefined` if the check passes, else to the problem. Rejects if there is no response. */
  run(fetch: typeof globalThis.fetch, url: string): Promise<string | undefined>;
}

/** A failure that a retry cannot fix. */
export class FatalCheckError extends Error {}

/** A finding that does not fail the update. With `final`, the check is not retried. */
export class CheckWarning extends Error {
  readonly final: boolean;

  constructor(message: string, { final = false } = {}) {
    super(message);
    this.final = final;
  }
}

/** Timeout per request, long enough to wake a container. */
const ANSWER_TIMEOUT_MS = 10_000;

export interface CheckOptions {
  publicWebhooks: boolean;
  /** Expected bundle hash. Default: the hash is not checked. */
  bundle: string | undefined;
  /** Default: not checked. */
  attestation: string | undefined;
  /** True if the gateway never sleeps. The checks then require that it is ready. */
  alwaysOn: boolean;
  channels: readonly string[];
  /** True to send a test alert. */
  alerts: boolean;
  /** Secret shared by the stack and the service. */
  key: string;
  commands: OperatorCommands;
}

export function readinessChecks(options: CheckOptions): Check[] {
  const { publicWebhooks, bundle, attestation, alwaysOn, channels, alerts, key, commands } = options;
  const webhooks = pathsOf("webhook");
  return [
    healthz,
    ...(bundle === undefined ? [] : [reports("bundle", bundle, "from the code that was deployed", commands)]),
    ...(attestation === undefined
      ? []
      : [reports("attestation", attestation, "with the secrets that were deployed", commands)]),
    ...(alwaysOn ? [gatewayReady(key)] : []),
    ...(publicWebhooks
      ? [challenge, ...webhooks.filter((path) => path !== ROUTES.slackEvents.path).map(unsigned)]
      : webhooks.map(webhookClosed)),
    ...pathsOf("identity").map(closed),
    ...channels.map((name) => channelWorks(name, key)),
    ...(alerts ? [alertsArrive(key)] : []),
  ];
}

/** Returns each path once, because some routes share a path. */
function pathsOf(access: RouteAccess): string[] {
  const routes = Object.values(ROUTES).filter((route) => route.access === access);
  return [...new Set(routes.map(({ path }) => path))];
}

const healthz: Check = {
  name: "GET /healthz",
  async run(fetch, url) {
    const response = await ask(fetch, `${url}/healthz`);
    return response.status === 200 ? undefined : `status ${response.status}, expected 200`;
  },
};

/**
 * Checks that `/readyz` reports the expected bundle or attestation; the gateway need not be ready. Fails while a
 * version with the previous code or secrets still answers.
 */
function reports(
  member: "bundle" | "attestation",
  expected: string,
  what: string,
  commands: OperatorCommands,
): Check {
  return {
    name: `GET /readyz ${what}`,
    async run(fetch, url) {
      const [found = "none"] = await membersOf(await ask(fetch, `${url}${ROUTES.ready.path}`), [member]);
      if (found === expected) return undefined;
      return `${member} ${String(found)}, expected ${expected}. ${fixOf("deployment_stale", commands)}`;
    },
  };
}

function gatewayReady(key: string): Check {
  return {
    name: "GET /readyz",
    async run(fetch, url) {
      const response = await ask(fetch, `${url}/readyz`);
      if (response.status === 200) return undefined;
      const [state] = await membersOf(response, ["state"]);
      const text = `the gateway is ${String(state)}${await whyNotReady(fetch, url, key)}`;
      if (state === "crash-looping") throw new FatalCheckError(text);
      return text;
    },
  };
}

async function whyNotReady(fetch: typeof globalThis.fetch, url: string, key: string): Promise<string> {
  const response = await askChannels(fetch, url, key);
  if (!response.ok) return "";
  return formatReason(channelsAnswer.parse(await response.json()));
}

function formatReason({ reason }: z.output<typeof channelsAnswer>): string {
  return reason === undefined ? "" : ` (${reason.code}): ${reason.detail}`;
}

function askChannels(fetch: typeof globalThis.fetch, url: string, key: string): Promise<Response> {
  return askAsStack({ fetch, url, key, route: ROUTES.stackChannels, timeoutMs: ANSWER_TIMEOUT_MS });
}

const challenge: Check = {
  name: "POST /slack/events with a url_verification",
  async run(fetch, url) {
    const expected = randomUUID();
    const response = await ask(fetch, `${url}/slack/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ type: "url_verification", challenge: expected }),
    });
    if (response.status !== 200) {
      return `status ${response.status}, expected 200 with the challenge. ${fixOf("slack_url_unverified")}`;
    }
    const body: unknown = await response.json();
    const echoed = typeof body === "object" && body !== null && "challenge" in body && body.challenge;
    return echoed === expected ? undefined : "the response does not contain the challenge";
  },
};

/** Checks that a public webhook requires no sign-in and rejects unsigned requests. */
function unsigned(path: string): Check {
  return {
    name: `POST ${path} without a signature`,
    group: "webhooks reject unsigned requests",
    async run(fetch, url) {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: "{}", redirect: "manual" } as const;
      const response = await ask(fetch, `${url}${path}`, init);
      if ((await codeOf(response)) === "webhooks_private") return "the webhook is not public";
      const { status } = response;
      return [401, 403, 503].includes(status) ? undefined : `status ${status}, expected a refusal`;
    },
  };
}

function webhookClosed(path: string): Check {
  return {
    name: `POST ${path} without an identity`,
    group: "webhooks are closed without an identity",
    async run(fetch, url) {
      const { status } = await ask(fetch, `${url}${path}`, { method: "POST", redirect: "manual" });
      return isRefusal(status) ? undefined : `status ${status}: the webhook is not closed`;
    },
  };
}

const REFUSALS: Readonly<Record<Platform, readonly ErrorCode[]>> = {
  slack: ["slack_token_expired"],
  telegram: ["telegram_token_invalid", "telegram_webhook_failed"],
  discord: ["discord_token_invalid"],
};
const REFUSED_CREDENTIALS: ReadonlySet<string> = new Set(Object.values(REFUSALS).flat());
const reported = z.object({ code: z.string(), detail: z.string(), fix: z.string() });
const channelsAnswer = z.object({
  state: z.string(),
  reason: z.optional(reported),
  channels: z.optional(
    z.array(
      z.object({
        platform: z.string(),
        state: z.enum(["ready", "failing", "disabled"]),
        reason: z.optional(reported),
      }),
    ),
  ),
});

/** Checks that a channel with deployed credentials is on and that its platform accepts them. */
function channelWorks(platform: string, key: string): Check {
  return {
    name: `channel ${platform}`,
    async run(fetch, url) {
      const response = await askChannels(fetch, url, key);
      if (!response.ok) return `status ${response.status} (${String(await codeOf(response))})`;
      const answer = channelsAnswer.parse(await response.json());
      const { state, reason, channels } = answer;
      if (channels === undefined) {
        // Skip the check: waking the container would create a backup, and the channel's tokens were checked before
        // the update.
        if (state === "stopped") throw new CheckWarning("skipped: the container is asleep", { final: true });
        throw new CheckWarning(`unknown: the gateway is ${state}${formatReason(answer)}`, {
          final: reason !== undefined,
        });
      }
      const channel = channels.find((one) => one.platform === platform);
      if (channel === undefined) return "is not on, although its credentials are deployed";
      if (channel.state === "disabled")
        throw new CheckWarning("switched off in steward.json", { final: true });
      if (channel.state === "ready" || channel.reason === undefined) return undefined;
      const { code, detail, fix } = channel.reason;
      // Fail only for refused credentials: no other failure is caused by the deployment.
      if (!REFUSED_CREDENTIALS.has(code)) throw new CheckWarning(detail, { final: true });
      return `${detail} ${fix}`;
    },
  };
}

function alertsArrive(key: string): Check {
  let refused: string | undefined;
  return {
    name: "alerts",
    async run(fetch, url) {
      // Return the first problem again. A new request would send another alert to the destinations that work.
      if (refused !== undefined) return refused;
      const response = await askAsStack({
        fetch,
        url,
        key,
        route: ROUTES.stackAlerts,
        timeoutMs: ANSWER_TIMEOUT_MS,
      });
      if (response.ok) return undefined;
      const [code, detail, fix] = await membersOf(response, ["code", "detail", "fix"]);
      const problem = `${String(detail)} (${String(code)}). ${String(fix)}`;
      if (code === "alerts_failed") refused = problem;
      return problem;
    },
  };
}

function closed(path: string): Check {
  return {
    name: `GET ${path} without an identity`,
    group: "pages and debug routes are closed without an identity",
    async run(fetch, url) {
      const response = await ask(fetch, `${url}${path}`, { redirect: "manual" });
      const { status } = response;
      if (isRefusal(status)) return undefined;
      if (status < 300) return `status ${status}: it is open to everyone`;
      // If no identity gateway is configured, protected pages and debug routes refuse requests with
      // `access_not_configured`.
      const code = await codeOf(response);
      return code === "access_not_configured" ? undefined : `status ${status}, expected 302, 401 or 403`;
    },
  };
}

async function codeOf(response: Response): Promise<unknown> {
  const [code] = await membersOf(response, ["code"]);
  return code;
}

async function membersOf(response: Response, names: readonly string[]): Promise<unknown[]> {
  const body: unknown = await response.json().catch(() => undefined);
  const members = new Map(typeof body === "object" && body !== null ? Object.entries(body) : []);
  return names.map((name) => members.get(name));
}

/** Returns true if the service refused the request, or the identity gateway redirected it to sign-in. */
function isRefusal(status: number): boolean {
  return status === 302 || status === 401 || status === 403;
}

function ask(fetch: typeof globalThis.fetch, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
}
