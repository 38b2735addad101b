import type { Hono } from "hono";
import { type Route, ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { withoutWaking } from "../operate.ts";
import { createBackup, downloadBackup, showBackups, verifyBackup } from "./backups.tsx";
import { confirmRestore, restoreBackup } from "./backup-restore.tsx";
import { showAbout, showRollouts } from "./about.tsx";
import { showActivity } from "./activity.tsx";
import { showChannels, testChannel } from "./channels.tsx";
import {
  allowGroup,
  confirmFresh,
  freshConfig,
  proposeLastGood,
  proposeRepair,
  repairConfig,
} from "./config-repairs.ts";
import { checkConfig, editConfig, editConfigOn, reviewConfig, saveConfig } from "./config-edit.tsx";
import { grantRole, revokeDevice, revokePerson, settleRequests, showDevices } from "./devices.tsx";
import { replayFromPage, showLedger } from "./ledger.tsx";
import { showEvent, showEventText } from "./ledger-event.tsx";
import type { AdminOptions, PageContext } from "./options.ts";
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

type PageHandler<Rest extends unknown[] = []> = (
  context: PageContext,
  options: AdminOptions,
  ...rest: Rest
) => Promise<Response>;

/** Adds the admin pages and their forms. Middleware for identity and cross-site checks must precede them. */
export function addAdminPages(app: Hono<AccessVariables>, options: AdminOptions): void {
  const looks = { ...options, sandbox: withoutWaking(options.sandbox) };
  const answer = <Rest extends unknown[]>(route: Route, handler: PageHandler<Rest>, ...rest: Rest) =>
    app.on(route.method, route.path, (context) => handler(context, options, ...rest));
  const look = (route: Route, handler: PageHandler) =>
    app.on(route.method, route.path, (context) => handler(context, looks));
  look(ROUTES.admin, showOverview);

  answer(ROUTES.tenantsPage, showTenants);
  answer(ROUTES.tenantChoose, chooseTenant);
  look(ROUTES.devicesPage, showDevices);
  answer(ROUTES.devicesApprove, settleRequests, "approve");
  answer(ROUTES.devicesReject, settleRequests, "reject");
  answer(ROUTES.accessGrant, grantRole);
  answer(ROUTES.devicesRevoke, revokeDevice);
  answer(ROUTES.peopleRevoke, revokePerson);

  answer(ROUTES.channelsPage, showChannels);
  answer(ROUTES.channelsTest, testChannel);
  look(ROUTES.workspacePage, showWorkspace);
  answer(ROUTES.workspaceFile, showFile);
  answer(ROUTES.workspaceSave, saveFile);
  answer(ROUTES.workspaceRemove, removeFile);
  look(ROUTES.modelsPage, showModels);
  answer(ROUTES.modelsTest, testModel);
  look(ROUTES.sessionsPage, showSessions);
  answer(ROUTES.sessionPage, showSession);
  answer(ROUTES.sessionMessages, showMessages);
  answer(ROUTES.sessionsExport, exportSession);
  answer(ROUTES.sessionsDelete, deleteSession);
  answer(ROUTES.sessionsReset, resetSession);
  look(ROUTES.schedulesPage, showSchedules);
  answer(ROUTES.schedulesAdd, saveSchedule, "add");
  look(ROUTES.schedulesEditPage, editSchedule);
  answer(ROUTES.schedulesEdit, saveSchedule, "edit");
  answer(ROUTES.schedulesPreview, saveSchedule, "preview");
  answer(ROUTES.schedulesPause, changeSchedule, "pause");
  answer(ROUTES.schedulesResume, changeSchedule, "resume");
  answer(ROUTES.schedulesRun, changeSchedule, "run");
  answer(ROUTES.schedulesRemove, changeSchedule, "remove");
  look(ROUTES.usagePage, showUsage);
  look(ROUTES.usageExport, exportUsage);

  answer(ROUTES.activityPage, showActivity);
  answer(ROUTES.rolloutsPage, showRollouts);
  answer(ROUTES.aboutPage, showAbout);
  answer(ROUTES.ledgerPage, showLedger);
  answer(ROUTES.ledgerPageReplay, replayFromPage);
  answer(ROUTES.ledgerEvent, showEvent);
  answer(ROUTES.ledgerEventText, showEventText);

  look(ROUTES.logsPage, showLogs);
  look(ROUTES.logsDownload, downloadLogs);
  look(ROUTES.configPage, showConfig);
  answer(ROUTES.configEdit, editConfig);
  answer(ROUTES.configEditOn, editConfigOn);
  answer(ROUTES.configReview, reviewConfig);
  answer(ROUTES.configSave, saveConfig);
  answer(ROUTES.configMend, proposeRepair);
  answer(ROUTES.configMendNow, repairConfig);
  look(ROUTES.configCheck, checkConfig);
  answer(ROUTES.configLastGood, proposeLastGood);
  answer(ROUTES.configAllowGroup, allowGroup);
  answer(ROUTES.configFreshPage, confirmFresh);
  answer(ROUTES.configFresh, freshConfig);

  answer(ROUTES.backupsPage, showBackups);
  answer(ROUTES.backupsCreate, createBackup);
  answer(ROUTES.backupsVerify, verifyBackup);
  answer(ROUTES.backupsDownload, downloadBackup);
  answer(ROUTES.backupsRestorePage, confirmRestore);
  answer(ROUTES.backupsRestore, restoreBackup);

  answer(ROUTES.restartPage, confirmRestart);
  answer(ROUTES.restart, restartGateway);
  answer(ROUTES.searchPage, showSearch);
  answer(ROUTES.undo, undoRemoval);
  answer(ROUTES.wake, wakeFromPage);
}
