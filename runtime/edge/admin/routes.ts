import type { Hono } from "hono";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import type { Backups, Clock, Ledger, Sandbox } from "../ports.ts";
import { confirmRestore, createBackup, restoreBackup, showBackups, verifyBackup } from "./backups.ts";
import { showChannels } from "./channels.ts";
import { allowGroup, confirmFresh, freshConfig, goBackToLastGood, mendConfig } from "./config-repairs.ts";
import { editConfig, editConfigOn, reviewConfig, saveConfig } from "./config-edit.ts";
import { revokeDevice, settleRequests, showDevices, wakeForDevices } from "./devices.ts";
import { replayFromPage, showLedger } from "./ledger.ts";
import { showConfig } from "./config.ts";
import { showLogs } from "./logs.ts";
import { confirmRestart, restartGateway } from "./restart.ts";
import { showOverview } from "./overview.ts";
import { showSessions } from "./sessions.ts";
import { showUsage } from "./usage.ts";

/** Dependencies of the pages. */
export interface AdminOptions {
  /** The hash of the bundle that the edge runs from, or `source`. */
  bundle: string;
  ledger: Ledger;
  sandbox: Sandbox;
  backups: Backups;
  clock: Clock;
  log: Log;
  /** This service holds the session, so its pages offer to end it. */
  signsOut: boolean;
}

/** The administration's pages and their forms. They stand behind the identity and against other sites' pages. */
export function addAdminPages(app: Hono<AccessVariables>, options: AdminOptions): void {
  const { ledger, sandbox, clock, log, signsOut } = options;
  app.get(ROUTES.admin.path, showOverview(options));

  app.get(ROUTES.devicesPage.path, showDevices(sandbox, clock, signsOut));
  app.post(ROUTES.devicesApprove.path, settleRequests("approve", options));
  app.post(ROUTES.devicesReject.path, settleRequests("reject", options));
  app.post(ROUTES.devicesRevoke.path, revokeDevice(options));
  app.post(ROUTES.devicesWake.path, wakeForDevices(options));

  app.get(ROUTES.channelsPage.path, showChannels(sandbox, clock, signsOut));
  app.get(ROUTES.sessionsPage.path, showSessions(sandbox, clock, signsOut));
  app.get(ROUTES.usagePage.path, showUsage(sandbox, signsOut));

  app.get(ROUTES.ledgerPage.path, showLedger(ledger, clock, signsOut));
  app.post(ROUTES.ledgerPageReplay.path, replayFromPage(ledger, log));

  app.get(ROUTES.logsPage.path, showLogs(sandbox, signsOut));
  app.get(ROUTES.configPage.path, showConfig(sandbox, signsOut));
  app.get(ROUTES.configEdit.path, editConfig(options));
  app.post(ROUTES.configEditOn.path, editConfigOn(options));
  app.post(ROUTES.configReview.path, reviewConfig(options));
  app.post(ROUTES.configSave.path, saveConfig(options));
  app.get(ROUTES.configMend.path, mendConfig(options));
  app.get(ROUTES.configLastGood.path, goBackToLastGood(options));
  app.get(ROUTES.configAllowGroup.path, allowGroup(options));
  app.get(ROUTES.configFreshPage.path, confirmFresh(options));
  app.post(ROUTES.configFresh.path, freshConfig(options));

  app.get(ROUTES.backupsPage.path, showBackups(options));
  app.post(ROUTES.backupsCreate.path, createBackup(options));
  app.post(ROUTES.backupsVerify.path, verifyBackup(options));
  app.get(ROUTES.backupsRestorePage.path, confirmRestore(options));
  app.post(ROUTES.backupsRestore.path, restoreBackup(options));

  app.get(ROUTES.restartPage.path, confirmRestart(sandbox, signsOut));
  app.post(ROUTES.restart.path, restartGateway(sandbox, log));
}
