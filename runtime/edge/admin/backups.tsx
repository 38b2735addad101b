import type { Context, Handler } from "hono";
import * as z from "zod/mini";
import {
  CONFIG_SOURCES,
  type ConfigSource,
  generationId,
  type GenerationManifest,
  type RestoreReport,
} from "../../contract/backup.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readFields, readQuery } from "../form.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { Age } from "../ui/time.tsx";
import { backupLabel } from "../../shared/backup-texts.ts";
import { backupRestorePart } from "./backup-restore.tsx";
import { AlertBox, ReasonBox, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { Facts } from "../ui/table.tsx";
import type { Backups } from "../ports.ts";
import { attempt, type Attempt } from "../operate.ts";
import { ProblemList } from "./config-review.tsx";
import { LIMIT_MS } from "./answers.ts";
import { recordChange } from "./change.ts";
import { type Done, goTo, readFlash } from "./flash.ts";
import type { AdminOptions } from "./options.ts";
import { lastBackup, recoveredPart } from "./overview.tsx";

/** An archive of some size, and where it is stopped a container's start before. Proxies wait longer. */
const BACKUP_LIMIT_MS = 60_000;
const ID = /^\d{8}-\d{8}$/;
const FORCE = /^(?:yes|no)$/;
const CONFIG = new RegExp(`^(?:${CONFIG_SOURCES.join("|")})$`);

const LATE = reason(
  "command_timed_out",
  `The check takes longer than ${BACKUP_LIMIT_MS / 1_000} seconds, so its result is not shown here.`,
);

const restoreQuery = () => z.strictObject({ id: generationId });

/** `GET /_admin/backups`: those that there are, and how the last attempt went; wakes nothing. */
export function showBackups({ backups, clock }: AdminOptions): Handler<AccessVariables> {
  return async function handleBackups(context) {
    const { facts, health, backups: standing } = await context.get("visitor")();
    const list = await attempt(LIMIT_MS, backups.list());
    const now = clock();
    const problem = standing.problem ?? standing.value?.problem;
    const content = (
      <>
        <StateLine status={facts.status} overall={health.overall} />
        {facts.status.state === "stopped" ? (
          <p class="soft">Making, checking or restoring a backup starts the container.</p>
        ) : (
          ""
        )}
        <p>Last backup: {lastBackup(standing, now)}. Backups also run automatically after changes.</p>
        <AlertBox reason={problem} /> {recoveredPart(standing, now)}
        <div class="actions">
          {createForm("no", "Back up now")}
          {problem?.code === "backup_refused" ? createForm("yes", "Back up although it holds less") : ""}
        </div>
        <h2>Available backups</h2>
        <ReasonBox reason={list.problem} /> {list.value?.length === 0 ? <p class="soft">None yet.</p> : ""}
        <ul class="cards">{(list.value ?? []).map((backup) => backupCard(backup, now))}</ul>
      </>
    );
    const flash = readFlash(context);
    // The button's problem is shown with its detail.
    const shown = problem !== undefined && flash.problem === problem.code ? {} : flash;
    return adminPage(context, { title: "Backups", flash: shown, waits: true }, content);
  };
}

/** `GET /_admin/backups/restore?id=`: what a restore would replace; wakes nothing. */
export function confirmRestore({ backups, clock }: AdminOptions): Handler<AccessVariables> {
  return async function handleConfirmRestore(context) {
    const { id } = readQuery(context, restoreQuery());
    const found = await attempt(LIMIT_MS, findBackup(backups, id));
    if (found.value === undefined) return goTo(context, ROUTES.backupsPage, "restored", found.problem);
    const { facts } = await context.get("visitor")();
    const { counts: present } = facts.details ?? {};
    const content = backupRestorePart({ ...found.value, present, now: clock() });
    return adminPage(context, { title: "Restore a backup" }, content);
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

/** `POST /_admin/backups/create`, field `force`: `yes` also where it holds far less than the one before. */
export function createBackup(options: AdminOptions): Handler<AccessVariables> {
  return async function handleCreateBackup(context) {
    const { force } = await readFields(context.req.raw, { force: FORCE });
    await recordChange(context, options, { action: "backup" });
    const made = options.backups.create({ force: force === "yes", cause: "operator" });
    return back(context, "backedUp", await attempt(BACKUP_LIMIT_MS, made));
  };
}

/** `POST /_admin/backups/verify`, field `id`: what a drill finds. */
export function verifyBackup({ backups, log }: AdminOptions): Handler<AccessVariables> {
  return async function handleVerifyBackup(context) {
    const { id } = await readFields(context.req.raw, { id: ID });
    log.info("operator checks a backup", { by: context.get("identity").name, id });
    const { value: report, problem } = await attempt(BACKUP_LIMIT_MS, backups.verify(id));
    const told = problem && (isLate(problem.code) ? LATE : problem);
    return adminPage(context, { title: "Backup verified" }, checkPart(id, report, told), statusOf(told));
  };
}

/** `POST /_admin/backups/restore`, fields `id` and `config`: puts it in the state's place. */
export function restoreBackup(options: AdminOptions): Handler<AccessVariables> {
  return async function handleRestoreBackup(context) {
    const { id, config } = await readFields(context.req.raw, { id: ID, config: CONFIG });
    await recordChange(context, options, {
      action: "restore",
      detail: `${id}, config: ${config}`,
      level: "warn",
    });
    const restored = attempt(BACKUP_LIMIT_MS, options.backups.restore(id, config as ConfigSource));
    return back(context, "restored", await restored);
  };
}

function isLate(code: string): boolean {
  return code === "command_timed_out";
}

function back(context: Context, done: Done, { problem }: Attempt<unknown>): Response {
  if (problem !== undefined && isLate(problem.code)) return goTo(context, ROUTES.backupsPage, "goesOn");
  return goTo(context, ROUTES.backupsPage, done, problem);
}

/** Returns how much a backup holds, in a line. */
function heldText({ sessions, messages, schedules, approvals, files }: GenerationManifest["counts"]): string {
  return [
    plural(sessions, "session"),
    plural(messages, "message"),
    plural(schedules, "schedule"),
    plural(approvals, "approval"),
    plural(files, "file"),
  ].join(", ");
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function createForm(force: "yes" | "no", label: string): Markup {
  return (
    <form method="post" action={ROUTES.backupsCreate.path}>
      <input type="hidden" name="force" value={force} />{" "}
      <button type="submit" class={force === "no" ? "primary" : "danger"}>
        {label}
      </button>
    </form>
  );
}

function backupCard(backup: GenerationManifest, now: number): Markup {
  const { id, createdAt, size, counts, agentVersion, configValid, cause } = backup;
  return (
    <li>
      <h3>
        <code>{id}</code>
      </h3>
      <p class={`badge ${cause === undefined ? "wait" : "ok"}`}>{backupLabel(backup)}</p>
      <Facts
        facts={[
          ["Made", <Age at={Date.parse(createdAt)} now={now} />],
          ["Holds", heldText(counts)],
          ["Size", sizeText(size)],
          ["Version", agentVersion],
          ["Config", configValid ? "valid" : <strong>not valid</strong>],
        ]}
      />
      <div class="actions">
        <form method="post" action={ROUTES.backupsVerify.path}>
          <input type="hidden" name="id" value={id} />{" "}
          <button type="submit" aria-label={`Verify ${id}`}>
            Verify
          </button>
        </form>
        <form method="get" action={ROUTES.backupsRestorePage.path}>
          <input type="hidden" name="id" value={id} />{" "}
          <button type="submit" aria-label={`Restore ${id}…`}>
            Restore…
          </button>
        </form>
      </div>
    </li>
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function checkPart(id: string, report: RestoreReport | undefined, problem: Reason | undefined): Markup {
  return (
    <>
      <p>
        <code>{id}</code> was unpacked beside the state and compared with its manifest. Nothing was changed.
      </p>
      <AlertBox reason={problem} /> {report === undefined ? "" : wholePart(report)}
      <p>
        <a href={ROUTES.backupsPage.path}>Back to the backups</a>
      </p>
    </>
  );
}

function wholePart({ counts, configProblems }: RestoreReport): Markup {
  return (
    <>
      <p class="state ok" role="status">
        Complete
      </p>
      <p>It holds {heldText(counts)}.</p>
      {configProblems.length === 0 ? (
        <p>Its config is valid for this version.</p>
      ) : (
        <>
          <h2>Its config is not valid for this version</h2>
          <ProblemList problems={configProblems} />
        </>
      )}
    </>
  );
}
