import type { MiddlewareHandler } from "hono";
import type { AccessVariables, Visitor } from "../access.ts";
import { revisionOf, STATUS_MS } from "../changes.ts";
import { gatewayDetails } from "../debug-routes.ts";
import { RELOAD_CHANGE, RELOAD_HEADER } from "../../contract/client.ts";
import { reason } from "../../contract/errors.ts";
import { type HealthFacts, judgeHealth } from "../health.ts";
import type { Identity } from "../identity.ts";
import { attempt } from "../operate.ts";
import { askOrRecall } from "./answers.ts";
import type { AdminOptions } from "./options.ts";

interface VisitorOptions extends Pick<
  AdminOptions,
  "clock" | "ledger" | "activity" | "answers" | "sandbox" | "backups" | "tenants"
> {
  /** True if steward itself manages the sign-in session, so pages offer to sign out. */
  signsOut: boolean;
  environmentName: string | undefined;
  chat: Visitor["chat"];
}

/** Maximum age, in milliseconds, of stored container answers that an automatic page update reuses. */
const REUSED_MS = 15_000;
/** Like {@link REUSED_MS}, for page updates after the server has reported a change. */
const REUSED_AFTER_CHANGE_MS = 500;

/**
 * Adds `visitor` to the context: the operator's identity and the deployment's health. Does not start the container or
 * count as activity.
 */
export function describeVisitor(options: VisitorOptions): MiddlewareHandler<AccessVariables> {
  return async function describeVisitorMiddleware(context, next) {
    let visitor: Promise<Visitor> | undefined;
    const look = context.req.header(RELOAD_HEADER);
    const reused = look === RELOAD_CHANGE ? REUSED_AFTER_CHANGE_MS : REUSED_MS;
    const reuseAfter = look === undefined ? undefined : options.clock() - reused;
    const description = () => describe(context.get("identity"), options, reuseAfter);
    context.set("visitor", () => (visitor ??= description()));
    await next();
  };
}

async function describe(
  identity: Identity,
  options: VisitorOptions,
  reuseAfter: number | undefined,
): Promise<Visitor> {
  const { ledger, activity, answers, sandbox, backups, chat, tenants } = options;
  const status = await sandbox.status();
  const ask = () => gatewayDetails(sandbox);
  const totals = tenants !== undefined && chat === "everyChat" ? tenants.totals() : undefined;
  const [details, counts, latest, copies, chats] = await Promise.all([
    askOrRecall(answers, { facts: { status } }, "gateway", ask, { limitMs: STATUS_MS }),
    attempt(STATUS_MS, ledger.counts()),
    attempt(STATUS_MS, activity.activity(1)),
    attempt(STATUS_MS, backups.status()),
    totals && attempt(STATUS_MS, totals),
  ]);
  const facts: HealthFacts = {
    status,
    details: details.value,
    counts: counts.value,
    ledger: counts.problem && reason("ledger_unavailable"),
    chats: chats?.value,
    backups: copies.problem ? { problem: copies.problem } : copies.value,
  };
  return {
    identity,
    signsOut: options.signsOut,
    environment: options.environmentName,
    chat,
    facts,
    reuseAfter,
    asOf: details.asOf,
    problem: details.problem,
    revision: revisionOf({
      counts: counts.value,
      status,
      latest: latest.value?.[0],
      details: details.asOf === undefined ? details.value : undefined,
    }),
    health: judgeHealth(facts),
    backups: copies,
  };
}
