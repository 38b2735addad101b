import type { Context, Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import {
  CONFIG_SOURCES,
  type ConfigSource,
  generationId,
  type GenerationManifest,
  type RestoreReport,
} from "../../contract/backup.ts";
import type { SandboxStatus } from "../../contract/control.ts";
import { ERRORS, reason, type Reason, StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { readFields, readQuery } from "../form.ts";
import { adminFrame, htmlPage } from "../pages/admin-frame.ts";
import { age } from "../pages/age.ts";
import { backupLabel } from "../../shared/backup-texts.ts";
import { backupRestorePage } from "../pages/backup-restore.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import type { Backups, BackupsStatus, Clock, RecordChange, Sandbox } from "../ports.ts";
import { attempt, type Attempt } from "../operate.ts";
import { problemList } from "./config-review.ts";
import { type Done, type Flash, flashQuery, readFlash } from "./flash.ts";
import { lastBackup, recoveredPart } from "./overview.ts";

/** An archive of some size, and where it is stopped a container's start before. Proxies wait longer. */
const LIMIT_MS = 60_000;
const ID = /^\d{8}-\d{8}$/;
const FORCE = /^(?:yes|no)$/;
const CONFIG = new RegExp(`^(?:${CONFIG_SOURCES.join("|")})$`);

const LATE = reason(
  "command_timed_out",
  `The check takes longer than ${LIMIT_MS / 1_000} seconds, so its result is not shown here.`,
);

const READ_MS = 10_000;
const restoreQuery = () => z.strictObject({ id: generationId });

/** Dependencies of the pages of the backups. */
interface BackupPages {
  sandbox: Sandbox;
  backups: Backups;
  clock: Clock;
  log: Log;
  record: RecordChange;
}

/** `GET /_admin/backups`: those that there are, and how the last attempt went; wakes nothing. */
export function showBackups({ backups, clock }: BackupPages): Handler<AccessVariables> {
  return async function handleBackups(context) {
    const visitor = await context.get("visitor")();
    const standing = visitor.backups;
    const { status } = visitor.facts;
    const list = await attempt(READ_MS, backups.list());
    const flash = readFlash(context);
    return htmlPage(context, backupsPage({ visitor, flash, status, standing, list, now: clock() }));
  };
}

/** `GET /_admin/backups/restore?id=`: what a restore would replace; wakes nothing. */
export function confirmRestore({ backups, clock }: BackupPages): Handler<AccessVariables> {
  return async function handleConfirmRestore(context) {
    const { id } = readQuery(context, restoreQuery());
    const found = await attempt(READ_MS, findBackup(backups, id));
    if (found.value === undefined) {
      return context.redirect(
        `${ROUTES.backupsPage.path}${flashQuery("restored", found.problem?.code)}`,
        303,
      );
    }
    const visitor = await context.get("visitor")();
    const present = visitor.facts.details?.counts;
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

/** `POST /_admin/backups/create`, field `force`: `yes` also where it holds far less than the one before. */
export function createBackup({ backups, log, record }: BackupPages): Handler<AccessVariables> {
  return async function handleCreateBackup(context) {
    const { force } = await readFields(context.req.raw, { force: FORCE });
    const by = context.get("identity").name;
    log.info("operator makes a backup", { by, force });
    await record(by, "backup");
    const made = backups.create({ force: force === "yes", cause: "operator" });
    return back(context, "backedUp", await attempt(LIMIT_MS, made));
  };
}

/** `POST /_admin/backups/verify`, field `id`: what a drill finds. */
export function verifyBackup({ backups, log }: BackupPages): Handler<AccessVariables> {
  return async function handleVerifyBackup(context) {
    const { id } = await readFields(context.req.raw, { id: ID });
    log.info("operator checks a backup", { by: context.get("identity").name, id });
    const { value: report, problem } = await attempt(LIMIT_MS, backups.verify(id));
    const visitor = await context.get("visitor")();
    const told = problem && (isLate(problem.code) ? LATE : problem);
    const status = told === undefined ? 200 : ERRORS[told.code].status;
    return htmlPage(context, backupCheckPage({ visitor, id, report, problem: told }), status);
  };
}

/** `POST /_admin/backups/restore`, fields `id` and `config`: puts it in the state's place. */
export function restoreBackup({ backups, log, record }: BackupPages): Handler<AccessVariables> {
  return async function handleRestoreBackup(context) {
    const { id, config } = await readFields(context.req.raw, { id: ID, config: CONFIG });
    const by = context.get("identity").name;
    log.warn("operator restores a backup", { by, id, config });
    await record(by, "restore", `${id}, config: ${config}`);
    const restored = attempt(LIMIT_MS, backups.restore(id, config as ConfigSource));
    return back(context, "restored", await restored);
  };
}

function isLate(code: string): boolean {
  return code === "command_timed_out";
}

function back(context: Context, done: Done, { problem }: Attempt<unknown>): Response {
  const goesOn = problem !== undefined && isLate(problem.code);
  const query = goesOn ? flashQuery("goesOn") : flashQuery(done, problem?.code);
  return context.redirect(`${ROUTES.backupsPage.path}${query}`, 303);
}

/** Content of the page of the backups. */
interface BackupsView {
  visitor: Visitor;
  flash: Flash;
  status: SandboxStatus;
  standing: Attempt<BackupsStatus>;
  /** Newest first. */
  list: Attempt<GenerationManifest[]>;
  now: number;
}

/** The page of `/_admin/backups`. */
function backupsPage({ visitor, flash, status, standing, list, now }: BackupsView): Markup {
  const problem = standing.problem ?? standing.value?.problem;
  // The button's problem is shown below with its detail.
  const shown = problem !== undefined && flash.problem === problem.code ? {} : flash;
  return adminFrame(
    { title: "Backups", visitor, flash: shown, waits: true },
    html`${stateLine(status, visitor.health.overall)}
      ${
        status.state === "stopped"
          ? html`<p class="soft">Making, checking or restoring a backup starts the container.</p>`
          : ""
      }
      <p>Last backup: ${lastBackup(standing, now)}. Backups also run automatically after changes.</p>
      ${problem === undefined ? "" : html`<div role="alert">${reasonBox(problem)}</div>`}
      ${recoveredPart(standing, now)}
      <div class="actions">
        ${createForm("no", "Back up now")}
        ${problem?.code === "backup_refused" ? createForm("yes", "Back up although it holds less") : ""}
      </div>
      <h2>Available backups</h2>
      ${reasonBox(list.problem)} ${list.value?.length === 0 ? html`<p class="soft">None yet.</p>` : ""}
      <ul class="cards">
        ${(list.value ?? []).map((backup) => backupCard(backup, now))}
      </ul>`,
  );
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
  return html`<form method="post" action="${ROUTES.backupsCreate.path}">
    <input type="hidden" name="force" value="${force}" />
    <button type="submit" class="${force === "no" ? "primary" : "danger"}">${label}</button>
  </form>`;
}

function backupCard(backup: GenerationManifest, now: number): Markup {
  const { id, createdAt, size, counts, agentVersion, configValid, cause } = backup;
  return html`<li>
    <h3><code>${id}</code></h3>
    <p class="badge ${cause === undefined ? "wait" : "ok"}">${backupLabel(backup)}</p>
    <dl>
      <dt>Made</dt>
      <dd>${age(Date.parse(createdAt), now)}</dd>
      <dt>Holds</dt>
      <dd>${heldText(counts)}</dd>
      <dt>Size</dt>
      <dd>${sizeText(size)}</dd>
      <dt>Version</dt>
      <dd>${agentVersion}</dd>
      <dt>Config</dt>
      <dd>${configValid ? "valid" : html`<strong>not valid</strong>`}</dd>
    </dl>
    <div class="actions">
      <form method="post" action="${ROUTES.backupsVerify.path}">
        <input type="hidden" name="id" value="${id}" />
        <button type="submit" aria-label="Verify ${id}">Verify</button>
      </form>
      <form method="get" action="${ROUTES.backupsRestorePage.path}">
        <input type="hidden" name="id" value="${id}" />
        <button type="submit" aria-label="Restore ${id}…">Restore…</button>
      </form>
    </div>
  </li>`;
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Content of the page after a check. */
interface BackupCheckView {
  visitor: Visitor;
  id: string;
  /** `undefined` where it is not whole, or could not be checked. */
  report: RestoreReport | undefined;
  problem: Reason | undefined;
}

/** The page of `/_admin/backups/verify`: what a drill found. */
function backupCheckPage({ visitor, id, report, problem }: BackupCheckView): Markup {
  return adminFrame(
    { title: "Backup verified", visitor },
    html`<p>
        <code>${id}</code> was unpacked beside the state and compared with its manifest. Nothing was changed.
      </p>
      ${problem === undefined ? "" : html`<div role="alert">${reasonBox(problem)}</div>`}
      ${report === undefined ? "" : wholePart(report)}
      <p><a href="${ROUTES.backupsPage.path}">Back to the backups</a></p>`,
  );
}

function wholePart({ counts, configProblems }: RestoreReport): Markup {
  return html`<p class="state ok" role="status">Complete</p>
    <p>It holds ${heldText(counts)}.</p>
    ${
      configProblems.length === 0
        ? html`<p>Its config is valid for this version.</p>`
        : html`<h2>Its config is not valid for this version</h2>
            ${problemList(configProblems)}`
    }`;
}
