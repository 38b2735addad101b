import { clientOf } from "./access.ts";
import type { Handler, MiddlewareHandler } from "hono";
import type { AlertSettings } from "../contract/alerts.ts";
import { references, referencesInText } from "../contract/config/references.ts";
import { CONTROL_ROUTES, GATEWAY_ROUTES } from "../contract/control.ts";
import { StewardError, type ErrorCode } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { verifyStackSignature, STACK_SIGNATURE_HEADER } from "../contract/stack-signature.ts";
import type { RateLimit } from "./rate-limit.ts";
import { commandTimeout } from "./operate.ts";
import { tryAlerts, type AlertSender } from "./alerts.ts";
import { readContainerConfig } from "./container-answers.ts";
import { gatewayDetails } from "./debug-routes.ts";
import type { Backups, Clock, Ledger, RecordChange, Sandbox, Signatures, SignatureUse } from "./ports.ts";
import { sendProblem } from "./problems.ts";
import type { Tenants } from "./tenants/ports.ts";

/** Time limit of an operation in milliseconds: enough to start a stopped container and transfer a large archive. */
const LIMIT_MS = 90_000;
const LISTED = 20;

export interface StackAccess {
  /** Key with which the stack signs requests. If undefined, every request is refused. */
  key: string | undefined;
  signatures: Signatures;
  clock: Clock;
  refusals: RateLimit;
}

/** Errors for valid signatures that were used before or cannot be stored. */
const REFUSED: Record<Exclude<SignatureUse, "accepted">, ErrorCode> = {
  used: "stack_signature_used",
  full: "rate_limited",
};

/** Creates middleware that accepts only requests signed by the stack, and each signature only once. */
export function requireStack({ key, signatures, clock, refusals }: StackAccess): MiddlewareHandler {
  return async function requireStackMiddleware(context, next) {
    const { pathname, search } = new URL(context.req.url);
    const request = { method: context.req.method, path: `${pathname}${search}` };
    const header = context.req.header(STACK_SIGNATURE_HEADER);
    const signature = key && header ? await verifyStackSignature(key, request, header, clock()) : undefined;
    const use = signature && (await signatures.useSignature(signature.mac, signature.expiresAt));
    if (use === "accepted") return next();
    const retryAfterSeconds = refusals.take(clientOf(context));
    return retryAfterSeconds > 0
      ? sendProblem("rate_limited", undefined, { retryAfterSeconds })
      : sendProblem(use === undefined ? "stack_signature_invalid" : REFUSED[use]);
  };
}

/**
 * `GET /stack/backups`: manifests of the newest backups, newest first, and the reason if the last backup failed.
 * Wakes no container.
 */
export function stackBackups(backups: Backups): Handler {
  return async function handleStackBackups(context) {
    const [list, { problem }] = await commandTimeout(
      LIMIT_MS,
      Promise.all([backups.list(), backups.status()]),
    );
    return context.json({ backups: list.slice(0, LISTED), problem });
  };
}

/**
 * `GET /stack/chats`: the update's progress across the chats' containers, or `null` if one sandbox serves all chats.
 * Starts the containers of canary chats.
 */
export function stackChats(tenants: Tenants | undefined): Handler {
  return async function handleStackChats(context) {
    return context.json((await tenants?.renewal?.({ look: true })) ?? null);
  };
}

/**
 * `GET /stack/channels`: the container's state, and each channel's state if the gateway is ready. Wakes no container.
 */
export function stackChannels(sandbox: Sandbox): Handler {
  return async function handleStackChannels(context) {
    const [{ state, reason }, details] = await Promise.all([sandbox.status(), gatewayDetails(sandbox)]);
    return context.json({ state, reason, channels: details?.channels });
  };
}

/**
 * `GET /stack/config-variables`: variables that the config references, and a running container's config problems.
 * Wakes no container.
 */
export function stackConfigVariables(sandbox: Sandbox, backups: Backups): Handler {
  return async function handleStackConfigVariables(context) {
    const running = await sandbox.peek({ method: "GET", path: CONTROL_ROUTES.config }, "supervisor");
    if (running?.ok) {
      const { config, missing, problems } = await readContainerConfig(running);
      return context.json({ references: references(config), problems: missing ? [] : problems });
    }
    const cached = await commandTimeout(LIMIT_MS, backups.cachedConfig());
    return context.json({ references: referencesInText(cached ?? "") });
  };
}

/** `POST /stack/alerts`: sends a test alert. A 502 response lists the failed destinations. */
export function tryStackAlerts(
  settings: AlertSettings | undefined,
  sender: Pick<AlertSender, "sendEmail" | "clock">,
): Handler {
  return async function handleTryAlerts(context) {
    const problems = settings === undefined ? [] : await tryAlerts({ ...sender, settings, fetch });
    if (problems.length > 0) throw new StewardError("alerts_failed", problems.join("; "));
    return context.json({ tried: settings !== undefined });
  };
}

/** `POST /stack/backups/create`: creates a backup and returns its manifest. Starts a stopped container. */
export function createStackBackup(backups: Backups, log: Log): Handler {
  return async function handleCreateStackBackup(context) {
    log.info("the stack creates a backup");
    return context.json({ backup: await commandTimeout(LIMIT_MS, backups.create({ cause: "rollout" })) });
  };
}

export interface ReplayOptions {
  ledger: Pick<Ledger, "recent">;
  sandbox: Pick<Sandbox, "request" | "wake">;
  /** Maximum number of events that one replay request from the stack returns; 0 if replay is not allowed. */
  replayEvents: number;
  log: Log;
}

/**
 * `POST /stack/replay`: the newest events, redacted by the gateway. Starts a stopped container; responds
 * `gateway_unavailable` until the gateway is ready.
 */
export function stackReplay({ ledger, sandbox, replayEvents, log }: ReplayOptions): Handler {
  return async function handleStackReplay() {
    if (replayEvents === 0) throw new StewardError("replay_not_allowed");
    const events = await ledger.recent(replayEvents);
    log.info("the stack reads redacted events", { events: events.length });
    const body = `{"deliveries":[${events.map((event) => event ?? "null").join(",")}]}`;
    const request = { method: "POST", path: GATEWAY_ROUTES.replay, body } as const;
    // Record activity, so that the started container does not go back to sleep.
    await sandbox.wake("operator");
    const asked = sandbox.request("gateway", request).catch((error: unknown) => {
      throw new StewardError("gateway_unavailable", undefined, { cause: error });
    });
    const { status, headers, body: answer } = await commandTimeout(LIMIT_MS, asked);
    return new Response(answer, { status, headers: { "content-type": headers.get("content-type") ?? "" } });
  };
}

/**
 * `POST /stack/backups/verify`: verifies the newest backup and records the verification. Starts a stopped container.
 */
export function verifyStackBackup(backups: Backups, log: Log, record: RecordChange): Handler {
  return async function handleVerifyStackBackup(context) {
    const [newest] = await commandTimeout(LIMIT_MS, backups.list());
    if (newest === undefined) throw new StewardError("backup_unknown");
    log.info("the stack verifies a backup", { id: newest.id });
    const report = await commandTimeout(LIMIT_MS, backups.verify(newest.id));
    await record("the stack", "verify", newest.id);
    return context.json({ backup: newest, report });
  };
}
