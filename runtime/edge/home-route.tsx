import type { Handler } from "hono";
import type { Attest } from "../contract/attestation.ts";
import type { SandboxStatus } from "../contract/control.ts";
import { reason } from "../contract/errors.ts";
import { VERSION } from "../contract/names.ts";
import { ROUTES } from "../contract/routes.ts";
import { wantsHtml } from "./access.ts";
import { sandboxFault } from "./health.ts";
import { HomePage, ReasonBox, RepairLink, StateLine } from "./ui/state.tsx";
import { Document, type Markup } from "./ui/document.tsx";
import { StartProgress } from "./ui/starts.tsx";
import type { Clock, Sandbox } from "./ports.ts";
import { sendProblem } from "./problems.ts";

const WAIT_REFRESH_SECONDS = 2;
/** Longer, because a reload cancels a click on a link whose page is slow. */
const BROKEN_REFRESH_SECONDS = 30;

/** Retry interval for clients, in seconds, while visitors may not start the container. */
export const REFUSED_WAKE_SECONDS = 600;

const LIVE_HEADERS = {
  "content-type": "text/plain;charset=UTF-8",
  "referrer-policy": "same-origin",
  "strict-transport-security": "max-age=15552000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** `GET /healthz`. Returns constant headers, because probes call it often. */
export function live(): Response {
  return new Response("ok", { headers: LIVE_HEADERS });
}

/**
 * `GET /`: returns the home page, or 502 with the cause while the gateway is not ready. Wakes a stopped container, at
 * most a few times an hour.
 */
export function home(sandbox: Sandbox, clock: Clock): Handler {
  return async function handleHome(context) {
    const status = await sandbox.status();
    const browser = wantsHtml(context.req.raw);
    if (status.state === "ready") {
      if (browser) return context.html(<HomePage status={status} />);
      return context.json({ name: "steward", version: VERSION, state: status.state, since: status.since });
    }
    const waking = status.state !== "stopped" || (await sandbox.wake("visitor"));
    const shown = status.state === "stopped" && waking ? begun(status, clock()) : status;
    const soon = status.state === "crash-looping" ? BROKEN_REFRESH_SECONDS : WAIT_REFRESH_SECONDS;
    const wait = waking ? soon : REFUSED_WAKE_SECONDS;
    if (browser) {
      return context.html(<WaitPage status={shown} refreshSeconds={wait} now={clock()} />, 502, {
        "retry-after": String(wait),
      });
    }
    // This page is public, so it omits paths and config names.
    const { code } = status.reason ?? { code: "gateway_not_ready" as const };
    return sendProblem(code, undefined, { status: 502, retryAfterSeconds: wait });
  };
}

/** Returns the status to show when this visit has just started the container. */
function begun(status: SandboxStatus, now: number): SandboxStatus {
  const at = new Date(now).toISOString();
  return { ...status, state: "starting", since: at, start: { at, phase: "starting" } };
}

interface Running {
  sandbox: Sandbox;
  bundle: string;
  workerVersion?: string | undefined;
  attestation: Attest;
}

/**
 * `GET /readyz`: 200 or 503 with the state, the bundle hash, the secrets' keyed hash and the Worker's version. During
 * a rollout, two versions may respond. Does not wake the container.
 */
export function readiness({ sandbox, bundle, workerVersion, attestation }: Running): Handler {
  return async function handleReadiness(context) {
    const [status, attested] = await Promise.all([sandbox.status(), attestation()]);
    const { state, since, volume, silent } = status;
    const body = {
      state,
      since,
      ...(volume && { volume: volume.code }),
      ...(silent && { silent: silent.code }),
      bundle,
      workerVersion,
      ...(attested && { attestation: attested.all }),
    };
    return context.json(body, state === "ready" && sandboxFault(status) === undefined ? 200 : 503);
  };
}

interface WaitProps {
  status: SandboxStatus;
  refreshSeconds: number;
  now: number;
}

function WaitPage({ status, refreshSeconds, now }: WaitProps): Markup {
  const known = status.reason && reason(status.reason.code);
  return (
    <Document title="steward is not ready" refreshSeconds={refreshSeconds}>
      <h1>steward</h1>
      <StateLine status={status} />
      <StartProgress status={status} now={now} />
      <ReasonBox reason={known} />
      <RepairLink reason={status.reason} />
      {known && (
        <p class="soft">
          Operators can find the details in the <a href={ROUTES.admin.path}>administration</a>.
        </p>
      )}
      <p class="soft">This page refreshes every {refreshSeconds} seconds.</p>
    </Document>
  );
}
