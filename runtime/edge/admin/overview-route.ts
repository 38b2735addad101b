import type { Handler } from "hono";
import type { AccessVariables } from "../access.ts";
import { gatewayDetails, listProcesses } from "../debug-routes.ts";
import { overviewPage } from "../pages/overview.ts";
import { contentSecurityPolicy } from "../pages/layout.ts";
import type { Backups, Clock, Ledger, Sandbox } from "../ports.ts";
import { readAccessList } from "./access-list.ts";
import { attempt } from "./attempt.ts";
import { readFlash } from "./flash.ts";

/** What the overview is made from. */
interface OverviewOptions {
  /** The edge's, by its hash. */
  bundle: string;
  ledger: Ledger;
  sandbox: Sandbox;
  backups: Backups;
  clock: Clock;
  signsOut: boolean;
}

/** The overview does not wait longer for what the container tells. */
const LIMIT_MS = 3_000;

/** `GET /_admin/`: the state of everything, who waits for approval, and which browsers have it. */
export function showOverview(options: OverviewOptions): Handler<AccessVariables> {
  const { bundle, ledger, sandbox, backups, clock, signsOut } = options;
  return async function handleOverview(context) {
    const status = await sandbox.status();
    const [counts, { value: list }, details, copies, access] = await Promise.all([
      ledger.counts(),
      attempt(LIMIT_MS, listProcesses(sandbox, false)),
      gatewayDetails(sandbox),
      attempt(LIMIT_MS, backups.status()),
      status.state === "stopped" ? undefined : attempt(LIMIT_MS, readAccessList(sandbox, clock)),
    ]);
    const processes = list?.processes;
    const flash = readFlash(context);
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy());
    const told = {
      status,
      bundle,
      counts,
      processes,
      details,
      access: access?.value,
      backups: copies,
      now: clock(),
    };
    return context.html(overviewPage({ visitor, flash, ...told }));
  };
}
