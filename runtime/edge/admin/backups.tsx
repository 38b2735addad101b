import type { Context } from "hono";
import { GENERATION_FILES, type GenerationManifest, type RestoreReport } from "../../contract/backup.ts";
import { reason, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { readFields } from "../form.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { Age, Dated } from "../ui/time.tsx";
import { backupLabel } from "../../shared/backup-texts.ts";
import { AlertBox, ReasonBox, StateLine } from "../ui/state.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { ActionButton } from "../ui/form.tsx";
import type { BackupsStatus } from "../ports.ts";
import { Table } from "../ui/table.tsx";
import { attempt, type Attempt, commandTimeout } from "../operate.ts";
import { ProblemList } from "./config-review.tsx";
import { LIMIT_MS } from "./answers.ts";
import { recordChange } from "./change.ts";
import { type Done, goTo, readFlash } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";

/**
 * Timeout in milliseconds for a backup operation, including the container's start. It is shorter than the timeouts of
 * proxies.
 */
export const BACKUP_LIMIT_MS = 60_000;
export const ID = /^\d{8}-\d{8}$/;
const FORCE = /^(?:yes|no)$/;

const LATE = reason(
  "command_timed_out",
  `The verification takes longer than ${BACKUP_LIMIT_MS / 1_000} seconds, so its result is not shown here.`,
);

/** `GET /_admin/backups`: available backups, and the result of the last attempt. Does not wake the container. */
export async function showBackups(context: PageContext, { backups, clock }: AdminOptions): Promise<Response> {
  const { facts, health, backups: standing } = await context.get("visitor")();
  const list = await attempt(LIMIT_MS, backups.list());
  const now = clock();
  const problem = standing.problem ?? standing.value?.problem;
  const content = (
    <>
      <StateLine status={facts.status} overall={health.overall} />
      {facts.status.state === "stopped" && (
        <p class="soft">Creating, verifying or restoring a backup starts the container.</p>
      )}
      <p>Last backup: {lastBackup(standing, now)}. Backups also run automatically after changes.</p>
      <AlertBox reason={problem} /> {recoveredPart(standing, now)}
      <div class="actions">
        <CreateButton force="no">Back up now</CreateButton>
        {problem?.code === "backup_refused" && (
          <CreateButton force="yes">Back up even though it contains less</CreateButton>
        )}
      </div>
      <h2>Available backups</h2>
      <ReasonBox reason={list.problem} />
      {list.value?.length === 0 && <p class="empty">None yet.</p>}
      {list.value !== undefined && list.value.length > 0 && backupsTable(list.value, now)}
    </>
  );
  const flash = readFlash(context);
  // Omit the notice if the page already shows the same problem in detail.
  const shown = problem !== undefined && flash.problem === problem.code ? {} : flash;
  return adminPage(context, { title: "Backups", flash: shown, waits: true }, content);
}

/**
 * `POST /_admin/backups/create`: makes a backup. The field `force=yes` accepts a backup that contains far less than
 * the previous one.
 */
export async function createBackup(context: PageContext, options: AdminOptions): Promise<Response> {
  const { force } = await readFields(context.req.raw, { force: FORCE });
  await recordChange(context, options, { action: "backup" });
  const made = options.backups.create({ force: force === "yes", cause: "operator" });
  return back(context, "backedUp", await attempt(BACKUP_LIMIT_MS, made));
}

/** `POST /_admin/backups/download`, field `id`: sends the stored archive and records the download. */
export async function downloadBackup(context: PageContext, options: AdminOptions): Promise<Response> {
  const { id } = await readFields(context.req.raw, { id: ID });
  const { value, problem } = await attempt(LIMIT_MS, options.backups.download(id));
  if (value === undefined) return goTo(context, ROUTES.backupsPage, "backedUp", problem);
  await recordChange(context, options, { action: "download", detail: id });
  return context.body(value, 200, {
    "content-type": "application/zstd",
    "content-disposition": `attachment; filename="steward-backup-${id}${GENERATION_FILES.archive}"`,
  });
}

/** `POST /_admin/backups/verify`, field `id`, which may be `newest`: verifies a backup, and records a success. */
export async function verifyBackup(context: PageContext, options: AdminOptions): Promise<Response> {
  const { backups, log } = options;
  const fields = await readFields(context.req.raw, { id: /^(?:newest|\d{8}-\d{8})$/ });
  const [newest] = fields.id === "newest" ? await commandTimeout(LIMIT_MS, backups.list()) : [];
  const id = newest?.id ?? fields.id;
  if (id === "newest") return goTo(context, ROUTES.backupsPage, "backedUp", { code: "backup_unknown" });
  log.info("operator verifies a backup", { by: context.get("identity").name, id });
  const { value: report, problem } = await attempt(BACKUP_LIMIT_MS, backups.verify(id));
  if (report !== undefined) await recordChange(context, options, { action: "verify", detail: id });
  const told = problem && (isTimeout(problem.code) ? LATE : problem);
  return adminPage(context, { title: "Backup verified" }, checkPart(id, report, told), statusOf(told));
}

function isTimeout(code: string): boolean {
  return code === "command_timed_out";
}

/** Redirects to the list of backups with the outcome, or with a note that a slow operation continues. */
export function back(context: Context, done: Done, { problem }: Attempt<unknown>): Response {
  if (problem !== undefined && isTimeout(problem.code)) return goTo(context, ROUTES.backupsPage, "goesOn");
  return goTo(context, ROUTES.backupsPage, done, problem);
}

function heldText(counts: GenerationManifest["counts"]): string {
  const kinds = ["sessions", "messages", "schedules", "approvals", "files"] as const;
  return kinds.map((kind) => `${counts[kind]} ${counts[kind] === 1 ? kind.slice(0, -1) : kind}`).join(", ");
}

function CreateButton({ force, children }: { force: "yes" | "no"; children: string }): Markup {
  const tone = force === "no" ? "primary" : "danger";
  return (
    <ActionButton action={ROUTES.backupsCreate.path} fields={[["force", force]]} tone={tone}>
      {children}
    </ActionButton>
  );
}

function backupsTable(backups: readonly GenerationManifest[], now: number): Markup {
  return (
    <Table
      label="Available backups"
      columns={[
        {
          head: "Made",
          kind: "name",
          cell: ({ id, createdAt }) => (
            <>
              <Dated at={createdAt} now={now} />
              <br />
              <code class="soft">{id}</code>
            </>
          ),
        },
        { head: "Why", cell: (backup) => <span class="badge">{backupLabel(backup)}</span> },
        { head: "Contents", cell: ({ counts }) => heldText(counts) },
        {
          head: "Size",
          kind: "number",
          cell: ({ size, sha256 }) => <span title={`SHA-256 ${sha256}`}>{sizeText(size)}</span>,
        },
        { head: "Config", cell: configOf },
        { head: "Version", cell: ({ agentVersion }) => agentVersion },
        {
          head: "Actions",
          kind: "action",
          cell: ({ id }) => (
            <div class="actions">
              <ActionButton action={ROUTES.backupsVerify.path} value={["id", id]} label={`Verify ${id}`}>
                Verify
              </ActionButton>
              <ActionButton action={ROUTES.backupsDownload.path} value={["id", id]} label={`Download ${id}`}>
                Download
              </ActionButton>
              <ActionButton
                method="get"
                action={ROUTES.backupsRestorePage.path}
                value={["id", id]}
                label={`Restore ${id}…`}
              >
                Restore…
              </ActionButton>
            </div>
          ),
        },
      ]}
      rows={backups}
    />
  );
}

function configOf({ configSha256, configValid }: GenerationManifest): Markup | string {
  if (configSha256 === null) return "none";
  return (
    <>
      {configValid ? "valid" : <strong>not valid</strong>}{" "}
      <code class="soft" title={`SHA-256 ${configSha256}`}>
        {configSha256.slice(0, 8)}
      </code>
    </>
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
        <code>{id}</code> was unpacked to a scratch directory and compared with its manifest. Nothing was
        changed.
      </p>
      <AlertBox reason={problem} /> {report === undefined ? "" : wholePart(report)}
      <LinkLine href={ROUTES.backupsPage.path}>Back to the backups</LinkLine>
    </>
  );
}

function wholePart({ counts, configProblems }: RestoreReport): Markup {
  return (
    <>
      <p class="state ok" role="status">
        Complete
      </p>
      <p>It contains {heldText(counts)}.</p>
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

export function lastBackup({ value }: Attempt<BackupsStatus>, now: number): Markup | string {
  if (value === undefined) return "unknown";
  return value.lastAt === undefined ? "none yet" : <Age at={value.lastAt} now={now} />;
}

/** Renders a note that an invalid config was replaced automatically. */
export function recoveredPart({ value }: Attempt<BackupsStatus>, now: number): Markup | "" {
  if (value?.recovered === undefined) return "";
  const { id, at } = value.recovered;
  return (
    <aside>
      <p>
        <strong>The config file was invalid at a start</strong>, so the one of backup <code>{id}</code> was
        restored automatically, <Age at={at} now={now} />. The invalid file was saved next to it.
      </p>
      <LinkLine href={ROUTES.configEdit.path}>Edit the configuration</LinkLine>
    </aside>
  );
}
