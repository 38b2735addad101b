import type { GatewayStatus, SandboxStatus } from "../contract/control.ts";
import { reason, type Reason } from "../contract/errors.ts";
import { ROUTES } from "../contract/routes.ts";
import type { BackupsStatus, LedgerCounts } from "./ports.ts";
import type { TenantTotals } from "./tenants/ports.ts";

export type Overall = "Healthy" | "Degraded" | "Down" | "Asleep" | "Starting";

/** A problem, and the page on which to fix it. */
export interface HealthProblem {
  title: string;
  reason?: Reason | undefined;
  action: { path: string; label: string };
}

export interface Health {
  overall: Overall;
  problems: HealthProblem[];
}

/** Facts that determine the deployment's health. A fact is absent if it is unknown. */
export interface HealthFacts {
  status: SandboxStatus;
  details?: GatewayStatus | undefined;
  backups?: BackupsStatus | undefined;
  counts?: LedgerCounts | undefined;
  ledger?: Reason | undefined;
  /** Totals over all chats. Present only in the whole deployment's health, if each chat has a separate sandbox. */
  chats?: TenantTotals | undefined;
}

const SEE_LOGS = { path: ROUTES.logsPage.path, label: "See the logs" };
const RESTART = { path: ROUTES.restartPage.path, label: "Restart the gateway" };

/**
 * Determines a deployment's health. A running process alone is not enough: answers also need a working model and
 * channel.
 */
export function judgeHealth({ status, details, backups, counts, ledger, chats }: HealthFacts): Health {
  const { models = [], channels = [], config } = details ?? {};
  const failingModels = models.filter(({ state }) => state === "failing" || state === "cooling");
  const isMute = models.length > 0 && failingModels.length === models.length;
  const problems: HealthProblem[] = [
    ...volumeProblems(status),
    ...gatewayProblems(status, details),
    ...(chats !== undefined && chats.failing > 0
      ? [
          {
            title: `${chats.failing} of ${chats.chats} chats ${chats.failing === 1 ? "gets" : "get"} no answer`,
            action: { path: ROUTES.tenantsPage.path, label: "See the chats" },
          },
        ]
      : []),
    ...(ledger ? [{ title: "The ledger cannot be read", reason: ledger, action: SEE_LOGS }] : []),
    ...failingModels.map(({ id, reason: why }) => ({
      title: isMute ? `No model answers: ${id}` : `The model ${id} fails`,
      reason: why,
      action: { path: ROUTES.modelsPage.path, label: "See the models" },
    })),
    ...channels
      .filter(({ state }) => state === "failing")
      .map(({ platform, reason: why }) => ({
        title: `The channel ${platform} fails`,
        reason: why,
        action: { path: ROUTES.channelsPage.path, label: "See the channels" },
      })),
    ...(config?.problem
      ? [
          {
            title: "The changed config is invalid; the previous one is in use",
            reason: config.problem,
            action: { path: `${ROUTES.configPage.path}#repairs`, label: "Repair the configuration" },
          },
        ]
      : []),
    ...(backups?.problem
      ? [
          {
            title: "The last backup failed",
            reason: backups.problem,
            action: { path: ROUTES.backupsPage.path, label: "See the backups" },
          },
        ]
      : []),
    ...(counts !== undefined && counts.failed > 0
      ? [
          {
            title: `${counts.failed} ${counts.failed === 1 ? "event" : "events"} failed`,
            action: { path: `${ROUTES.ledgerPage.path}?state=failed`, label: "See failed events" },
          },
        ]
      : []),
  ];
  const overall = overallOf(status, isMute || ledger !== undefined, problems);
  const isCalm = overall === "Asleep" || overall === "Starting";
  return { overall: isCalm && chats !== undefined && chats.failing > 0 ? "Degraded" : overall, problems };
}

/** Returns a fault that prevents all answers even if the gateway runs. */
export function sandboxFault({ volume, silent }: SandboxStatus): Reason | undefined {
  return volume ?? silent;
}

function volumeProblems({ volume }: SandboxStatus): HealthProblem[] {
  if (volume === undefined) return [];
  return [{ title: "Nothing can be stored: messages are refused", reason: volume, action: SEE_LOGS }];
}

function gatewayProblems(
  { state, reason: why, silent }: SandboxStatus,
  details: GatewayStatus | undefined,
): HealthProblem[] {
  if (silent) return [{ title: "The gateway does not answer", reason: silent, action: RESTART }];
  if (state === "ready" && details === undefined)
    return [{ title: "The gateway does not report its state", action: SEE_LOGS }];
  if (state !== "crash-looping") return [];
  const isConfig = why?.code === "config_invalid";
  const action = isConfig
    ? { path: `${ROUTES.configPage.path}#repairs`, label: "Repair the configuration" }
    : RESTART;
  return [{ title: "The gateway cannot start", reason: why ?? reason("crash_looping"), action }];
}

function overallOf(status: SandboxStatus, isMute: boolean, problems: readonly HealthProblem[]): Overall {
  const { state } = status;
  if (sandboxFault(status) !== undefined || state === "crash-looping") return "Down";
  if (state === "stopped") return "Asleep";
  if (state === "starting") return "Starting";
  if (isMute) return "Down";
  return problems.length > 0 ? "Degraded" : "Healthy";
}
