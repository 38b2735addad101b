import type { Context, Handler } from "hono";
import { CONFIG_SOURCES, type ConfigSource } from "../../contract/backup.ts";
import { ERRORS, reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readFields } from "../form.ts";
import { backupCheckPage } from "../pages/backup-check.ts";
import { attempt, type Attempt } from "./attempt.ts";
import type { BackupPages } from "./backup-pages.ts";
import { flashQuery, type Done } from "./flash.ts";
import { htmlPage } from "./html-page.ts";

/** An archive of some size, and where it is stopped a container's start before. Proxies wait longer. */
const LIMIT_MS = 60_000;
const ID = /^\d{8}-\d{8}$/;
const FORCE = /^(?:yes|no)$/;
const CONFIG = new RegExp(`^(?:${CONFIG_SOURCES.join("|")})$`);

/** `POST /_admin/backups/create`, field `force`: `yes` also where it holds far less than the one before. */
export function createBackup({ backups, log }: BackupPages): Handler<AccessVariables> {
  return async function handleCreateBackup(context) {
    const { force } = await readFields(context.req.raw, { force: FORCE });
    log.info("operator makes a backup", { by: context.get("identity").name, force });
    return back(context, "backedUp", await attempt(LIMIT_MS, backups.create({ force: force === "yes" })));
  };
}

/** `POST /_admin/backups/verify`, field `id`: what a drill finds. */
export function verifyBackup({ backups, log, signsOut }: BackupPages): Handler<AccessVariables> {
  return async function handleVerifyBackup(context) {
    const { id } = await readFields(context.req.raw, { id: ID });
    log.info("operator checks a backup", { by: context.get("identity").name, id });
    const { value: report, problem } = await attempt(LIMIT_MS, backups.verify(id));
    const visitor = { identity: context.get("identity"), signsOut };
    const told = problem && (isLate(problem.code) ? LATE : problem);
    const status = told === undefined ? 200 : ERRORS[told.code].status;
    return htmlPage(context, backupCheckPage({ visitor, id, report, problem: told }), status);
  };
}

/** `POST /_admin/backups/restore`, fields `id` and `config`: puts it in the state's place. */
export function restoreBackup({ backups, log }: BackupPages): Handler<AccessVariables> {
  return async function handleRestoreBackup(context) {
    const { id, config } = await readFields(context.req.raw, { id: ID, config: CONFIG });
    log.warn("operator restores a backup", { by: context.get("identity").name, id, config });
    const restored = attempt(LIMIT_MS, backups.restore(id, config as ConfigSource));
    return back(context, "restored", await restored);
  };
}

const LATE = reason(
  "command_timed_out",
  `The check takes longer than ${LIMIT_MS / 1_000} seconds, so its result is not shown here.`,
);

function isLate(code: string): boolean {
  return code === "command_timed_out";
}

function back(context: Context, done: Done, { problem }: Attempt<unknown>): Response {
  const goesOn = problem !== undefined && isLate(problem.code);
  const query = goesOn ? flashQuery("goesOn") : flashQuery(done, problem?.code);
  return context.redirect(`${ROUTES.backupsPage.path}${query}`, 303);
}
