import type { Hono } from "hono";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { looking } from "../operate.ts";
import { createBackup, downloadBackup, showBackups, verifyBackup } from "./backups.tsx";
import { confirmRestore, restoreBackup } from "./backup-restore.tsx";
import { showAbout, showRollouts } from "./about.tsx";
import { showActivity } from "./activity.tsx";
import { showChannels, testChannel } from "./channels.tsx";
import {
  allowGroup,
  confirmFresh,
  freshConfig,
  goBackToLastGood,
  mendConfig,
  mendConfigNow,
} from "./config-repairs.ts";
import { checkConfig, editConfig, editConfigOn, reviewConfig, saveConfig } from "./config-edit.tsx";
import { grantRole, revokeDevice, revokePerson, settleRequests, showDevices } from "./devices.tsx";
import { replayFromPage, showLedger } from "./ledger.tsx";
import { showEvent, showEventText } from "./ledger-event.tsx";
import type { AdminOptions } from "./options.ts";
import { showConfig } from "./config.tsx";
import { downloadLogs, showLogs } from "./logs.tsx";
import { confirmRestart, restartGateway, wakeFromPage } from "./restart.tsx";
import { changeSchedule, editSchedule, saveSchedule, showSchedules } from "./schedules.tsx";
import { showModels, testModel } from "./models.tsx";
import { showOverview } from "./overview.tsx";
import { deleteSession, exportSession, resetSession, showMessages, showSession } from "./session.tsx";
import { showSearch } from "./search.tsx";
import { showSessions } from "./sessions.tsx";
import { removeFile, saveFile, showFile, showWorkspace } from "./workspace.tsx";
import { chooseTenant, showTenants } from "./tenants.tsx";
import { undoRemoval } from "./undo.ts";
import { exportUsage, showUsage } from "./usage.tsx";

/** The administration's pages and their forms. They stand behind the identity and against other sites' pages. */
export function addAdminPages(app: Hono<AccessVariables>, options: AdminOptions): void {
  const looks = { ...options, sandbox: looking(options.sandbox) };
  app.get(ROUTES.admin.path, showOverview(looks));

  app.get(ROUTES.tenantsPage.path, showTenants(options));
  app.post(ROUTES.tenantChoose.path, chooseTenant());
  app.get(ROUTES.devicesPage.path, showDevices(looks));
  app.post(ROUTES.devicesApprove.path, settleRequests("approve", options));
  app.post(ROUTES.devicesReject.path, settleRequests("reject", options));
  app.post(ROUTES.accessGrant.path, grantRole(options));
  app.post(ROUTES.devicesRevoke.path, revokeDevice(options));
  app.post(ROUTES.peopleRevoke.path, revokePerson(options));

  app.get(ROUTES.channelsPage.path, showChannels(options));
  app.post(ROUTES.channelsTest.path, testChannel(options));
  app.get(ROUTES.workspacePage.path, showWorkspace(looks));
  app.get(ROUTES.workspaceFile.path, showFile(options));
  app.post(ROUTES.workspaceSave.path, saveFile(options));
  app.post(ROUTES.workspaceRemove.path, removeFile(options));
  app.get(ROUTES.modelsPage.path, showModels(looks));
  app.post(ROUTES.modelsTest.path, testModel(options));
  app.get(ROUTES.sessionsPage.path, showSessions(looks));
  app.get(ROUTES.sessionPage.path, showSession(options));
  app.post(ROUTES.sessionMessages.path, showMessages(options));
  app.post(ROUTES.sessionsExport.path, exportSession(options));
  app.post(ROUTES.sessionsDelete.path, deleteSession(options));
  app.post(ROUTES.sessionsReset.path, resetSession(options));
  app.get(ROUTES.schedulesPage.path, showSchedules(looks));
  app.post(ROUTES.schedulesAdd.path, saveSchedule("add", options));
  app.get(ROUTES.schedulesEditPage.path, editSchedule(looks));
  app.post(ROUTES.schedulesEdit.path, saveSchedule("edit", options));
  app.post(ROUTES.schedulesPreview.path, saveSchedule("preview", options));
  app.post(ROUTES.schedulesPause.path, changeSchedule("pause", options));
  app.post(ROUTES.schedulesResume.path, changeSchedule("resume", options));
  app.post(ROUTES.schedulesRun.path, changeSchedule("run", options));
  app.post(ROUTES.schedulesRemove.path, changeSchedule("remove", options));
  app.get(ROUTES.usagePage.path, showUsage(looks));
  app.get(ROUTES.usageExport.path, exportUsage(looks));

  app.get(ROUTES.activityPage.path, showActivity(options));
  app.get(ROUTES.rolloutsPage.path, showRollouts(options));
  app.get(ROUTES.aboutPage.path, showAbout(options));
  app.get(ROUTES.ledgerPage.path, showLedger(options));
  app.post(ROUTES.ledgerPageReplay.path, replayFromPage(options));
  app.get(ROUTES.ledgerEvent.path, showEvent(options));
  app.post(ROUTES.ledgerEventText.path, showEventText(options));

  app.get(ROUTES.logsPage.path, showLogs(looks));
  app.get(ROUTES.logsDownload.path, downloadLogs(looks));
  app.get(ROUTES.configPage.path, showConfig(looks));
  app.get(ROUTES.configEdit.path, editConfig(options));
  app.post(ROUTES.configEditOn.path, editConfigOn());
  app.post(ROUTES.configReview.path, reviewConfig(options));
  app.post(ROUTES.configSave.path, saveConfig(options));
  app.get(ROUTES.configMend.path, mendConfig(options));
  app.post(ROUTES.configMendNow.path, mendConfigNow(options));
  app.post(ROUTES.configCheck.path, checkConfig(looks));
  app.get(ROUTES.configLastGood.path, goBackToLastGood(options));
  app.get(ROUTES.configAllowGroup.path, allowGroup(options));
  app.get(ROUTES.configFreshPage.path, confirmFresh(options));
  app.post(ROUTES.configFresh.path, freshConfig(options));

  app.get(ROUTES.backupsPage.path, showBackups(options));
  app.post(ROUTES.backupsCreate.path, createBackup(options));
  app.post(ROUTES.backupsVerify.path, verifyBackup(options));
  app.post(ROUTES.backupsDownload.path, downloadBackup(options));
  app.get(ROUTES.backupsRestorePage.path, confirmRestore(options));
  app.post(ROUTES.backupsRestore.path, restoreBackup(options));

  app.get(ROUTES.restartPage.path, confirmRestart());
  app.post(ROUTES.restart.path, restartGateway(options));
  app.get(ROUTES.searchPage.path, showSearch(options));
  app.post(ROUTES.undo.path, undoRemoval(options));
  app.post(ROUTES.wake.path, wakeFromPage(options));
}
