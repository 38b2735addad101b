import * as z from "zod/mini";
import {
  CONFIG_SOURCES,
  type ConfigSource,
  generationId,
  type GenerationManifest,
} from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { backupLabel } from "../../shared/backup-texts.ts";
import type { Visitor } from "../access.ts";
import { readFields, readQuery } from "../form.ts";
import { attempt } from "../operate.ts";
import type { Backups } from "../ports.ts";
import { adminPage } from "../ui/console.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { Confirmation, confirms, TYPED, Submit } from "../ui/form.tsx";
import { Table } from "../ui/table.tsx";
import { Dated, Moment } from "../ui/time.tsx";
import { LIMIT_MS } from "./answers.ts";
import { BACKUP_LIMIT_MS, back, ID } from "./backups.tsx";
import { recordChange } from "./change.ts";
import { goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";

const CONFIG = new RegExp(`^(?:${CONFIG_SOURCES.join("|")})$`);

const restoreQuery = () => z.strictObject({ id: generationId });

const ROWS = [
  ["Sessions", "sessions"],
  ["Messages", "messages"],
  ["Schedules", "schedules"],
  ["Approvals", "approvals"],
  ["Files", "files"],
] as const;

const SOURCES: Record<ConfigSource, string> = {
  generation: "From the backup",
  current: "Keep the current file",
  fresh: "Defaults, written from the environment",
};

/** `GET /_admin/backups/restore?id=`: shows what a restore would change. Does not wake the container. */
export async function confirmRestore(context: PageContext, options: AdminOptions): Promise<Response> {
  return page(context, options, readQuery(context, restoreQuery()));
}

/**
 * `POST /_admin/backups/restore`, fields `id`, `config` and `typed`: replaces the state with the backup. `typed`
 * must be the environment's name.
 */
export async function restoreBackup(context: PageContext, options: AdminOptions): Promise<Response> {
  const form = { id: ID, config: CONFIG, typed: TYPED };
  const { id, config, typed } = await readFields(context.req.raw, form);
  const source = config as ConfigSource;
  const visitor = await context.get("visitor")();
  if (!confirms(typed, wordOf(visitor))) return page(context, options, { id, config: source, typed });
  const detail = `${id}, config: ${config}`;
  await recordChange(context, options, { action: "restore", detail, level: "warn" });
  const restored = await attempt(BACKUP_LIMIT_MS, options.backups.restore(id, source));
  if (restored.problem === undefined)
    await recordChange(context, options, { action: "verify", detail: `${id}, by its restore` });
  return back(context, "restored", restored);
}

/** Returns the word to type as confirmation. */
function wordOf({ environment = "restore" }: Visitor): string {
  return environment;
}

interface RestoreFields {
  id: string;
  config?: ConfigSource;
  typed?: string;
}

async function page(
  context: PageContext,
  { backups, clock }: AdminOptions,
  asked: RestoreFields,
): Promise<Response> {
  const found = await attempt(LIMIT_MS, findBackup(backups, asked.id));
  if (found.value === undefined) return goTo(context, ROUTES.backupsPage, "restored", found.problem);
  const { backup } = found.value;
  const visitor = await context.get("visitor")();
  const now = clock();
  const content = (
    <>
      <p>
        The backup of <Dated at={backup.createdAt} now={now} /> replaces the current state. It is{" "}
        <code>{backup.id}</code> ({backupLabel(backup).toLowerCase()}), made by version {backup.agentVersion}.
      </p>
      {changesTable(found.value, visitor, now)}
      <aside>
        <p>
          <strong>Conversations, approvals, schedules and the workspace are replaced.</strong>
        </p>
        <p>
          The current state is backed up first, as a copy labelled “Before a restore”. The gateway stops
          during the restore and then restarts; messages that arrive are queued and answered afterwards. The
          ledger is not rolled back, so answered messages are not answered again.
        </p>
      </aside>
      {restoreForm(backup, asked, wordOf(visitor))}
      <LinkLine href={ROUTES.backupsPage.path}>Back to the backups</LinkLine>
    </>
  );
  const status = asked.typed === undefined ? 200 : 400;
  return adminPage(context, { title: "Restore a backup" }, content, status);
}

/** @throws StewardError `backup_unknown` */
async function findBackup(backups: Backups, id: string): Promise<Compared> {
  const list = await backups.list();
  const backup = list.find((one) => one.id === id);
  if (backup === undefined) throw new StewardError("backup_unknown");
  return { backup, newest: list[0] ?? backup };
}

interface Compared {
  backup: GenerationManifest;
  newest: GenerationManifest;
}

/**
 * Renders the differences between the backup and the current state. Counts that the gateway does not report are taken
 * from the newest backup.
 */
function changesTable({ backup, newest }: Compared, { facts, asOf }: Visitor, now: number): Markup {
  const { counts } = facts.details ?? {};
  const reported: Partial<GenerationManifest["counts"]> = counts
    ? { sessions: counts.conversations, messages: counts.messages }
    : {};
  const current = { ...newest.counts, ...reported };
  const isNewest = newest.id === backup.id;
  const config = newest.configSha256 === backup.configSha256 ? "unchanged" : "replaced";
  return (
    <Table
      label="What changes"
      caption={
        <>
          {counts === undefined ? (
            "All"
          ) : (
            <>Conversations as of {asOf ? <Moment at={asOf} /> : "now"}, the rest</>
          )}{" "}
          as of the newest backup, made <Dated at={newest.createdAt} now={now} />
          {isNewest && ", which is this one"}. Config since then: {config}.
        </>
      }
      columns={[
        { head: "What", kind: "name", cell: ([name]) => name },
        { head: "Now", kind: "number", cell: ([, key]) => current[key] },
        { head: "This backup", kind: "number", cell: ([, key]) => backup.counts[key] },
        { head: "Change", kind: "number", cell: ([, key]) => changeText(backup.counts[key] - current[key]) },
      ]}
      rows={ROWS}
    />
  );
}

function changeText(change: number): string {
  if (change === 0) return "none";
  return change > 0 ? `+${change}` : `−${-change}`;
}

function restoreForm({ id, configValid }: GenerationManifest, asked: RestoreFields, word: string): Markup {
  const { config: chosen = configValid ? "generation" : "current", typed } = asked;
  return (
    <form method="post" action={ROUTES.backupsRestore.path}>
      <input type="hidden" name="id" value={id} />
      <fieldset>
        <legend>Config file</legend>
        {Object.entries(SOURCES).map(([source, label]) => (
          <label>
            <input type="radio" name="config" value={source} checked={source === chosen} />
            {label} {source === "generation" && !configValid ? "(not valid)" : ""}
          </label>
        ))}
      </fieldset>
      <Confirmation word={word} typed={typed} notDone="Nothing was restored" />
      <Submit tone="danger">Restore this backup</Submit>
    </form>
  );
}
