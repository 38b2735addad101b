import type { Handler } from "hono";
import * as z from "zod/mini";
import { generationId, type GenerationManifest } from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { gatewayDetails } from "../debug-routes.ts";
import { backupRestorePage } from "../pages/backup-restore.ts";
import { backupsPage } from "../pages/backups.ts";
import type { Backups, Clock, Sandbox } from "../ports.ts";
import { readQuery } from "../query.ts";
import { attempt } from "./attempt.ts";
import { flashQuery, readFlash } from "./flash.ts";
import { htmlPage } from "./html-page.ts";

const LIMIT_MS = 10_000;
const restoreQuery = z.strictObject({ id: generationId });

/** What the pages of the backups work with. */
export interface BackupPages {
  sandbox: Sandbox;
  backups: Backups;
  clock: Clock;
  log: Log;
  signsOut: boolean;
}

/** `GET /_admin/backups`: those that there are, and how the last attempt went; wakes nothing. */
export function showBackups({ sandbox, backups, clock, signsOut }: BackupPages): Handler<AccessVariables> {
  return async function handleBackups(context) {
    const [status, standing, list] = await Promise.all([
      sandbox.status(),
      attempt(LIMIT_MS, backups.status()),
      attempt(LIMIT_MS, backups.list()),
    ]);
    const visitor = { identity: context.get("identity"), signsOut };
    const flash = readFlash(context);
    return htmlPage(context, backupsPage({ visitor, flash, status, standing, list, now: clock() }));
  };
}

/** `GET /_admin/backups/restore?id=`: what a restore would replace; wakes nothing. */
export function confirmRestore({ sandbox, backups, clock, signsOut }: BackupPages): Handler<AccessVariables> {
  return async function handleConfirmRestore(context) {
    const { id } = readQuery(context, restoreQuery);
    const [found, details] = await Promise.all([
      attempt(LIMIT_MS, findBackup(backups, id)),
      gatewayDetails(sandbox),
    ]);
    if (found.value === undefined) {
      return context.redirect(
        `${ROUTES.backupsPage.path}${flashQuery("restored", found.problem?.code)}`,
        303,
      );
    }
    const visitor = { identity: context.get("identity"), signsOut };
    const present = details?.counts;
    return htmlPage(context, backupRestorePage({ visitor, ...found.value, present, now: clock() }));
  };
}

/** A backup, and the newest one, which may be the same. */
async function findBackup(
  backups: Backups,
  id: string,
): Promise<{ backup: GenerationManifest; newest: GenerationManifest }> {
  const list = await backups.list();
  const backup = list.find((one) => one.id === id);
  if (backup === undefined) throw new StewardError("backup_unknown");
  return { backup, newest: list[0] ?? backup };
}
