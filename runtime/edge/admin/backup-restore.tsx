import type { ConfigSource, GenerationManifest } from "../../contract/backup.ts";
import type { GatewayStatus } from "../../contract/control.ts";
import { backupLabel } from "../../shared/backup-texts.ts";
import { ROUTES } from "../../contract/routes.ts";
import { Age } from "../ui/time.tsx";
import type { Markup } from "../ui/document.tsx";
import { PlainTable } from "../ui/table.tsx";

/** Content of the page before a restore. */
export interface BackupRestoreView {
  backup: GenerationManifest;
  /** Last copy of what is there now. */
  newest: GenerationManifest;
  /** Told by the gateway itself; `undefined` while it is not ready. */
  present: GatewayStatus["counts"] | undefined;
  now: number;
}

/** Names of the counts, as people read them. */
const ROWS = [
  ["Sessions", "sessions"],
  ["Messages", "messages"],
  ["Schedules", "schedules"],
  ["Approvals", "approvals"],
  ["Files", "files"],
] as const;

const SOURCES: Record<ConfigSource, string> = {
  generation: "The backup's own",
  current: "The one that is there now",
  fresh: "A fresh one, written from the environment",
};

/** Renders what a restore replaces, and the button. */
export function backupRestorePart(view: BackupRestoreView): Markup {
  const { backup, now } = view;
  const label = backupLabel(backup).toLowerCase();
  return (
    <>
      <p>
        <code>{backup.id}</code> ({label}), made <Age at={Date.parse(backup.createdAt)} now={now} /> by
        version {backup.agentVersion}, takes the place of the state that is there now.
      </p>
      {warning()} {comparison(view)} {restoreForm(backup)}
      <p>
        <a href={ROUTES.backupsPage.path}>Back to the backups</a>
      </p>
    </>
  );
}

function warning(): Markup {
  return (
    <aside>
      <p>
        <strong>Conversations, approvals, schedules and the workspace are replaced.</strong>
      </p>
      <p>
        The current state is backed up first, as a copy labelled “Before a restore”. The gateway stops during
        the restore and then restarts; messages that arrive are queued and answered afterwards. The ledger is
        not rolled back: what was answered is not answered again.
      </p>
    </aside>
  );
}

function comparison({ backup, newest, present, now }: BackupRestoreView): Markup {
  const isNewest = newest.id === backup.id;
  const known: Partial<GenerationManifest["counts"]> = present
    ? { sessions: present.conversations, messages: present.messages }
    : {};
  return (
    <PlainTable
      label="What is replaced"
      caption={
        <>
          Current state, as reported by the gateway,{" "}
          {isNewest ? (
            ""
          ) : (
            <>
              in the newest backup (<Age at={Date.parse(newest.createdAt)} now={now} />
              ),
            </>
          )}{" "}
          and in this backup{isNewest ? ", the newest one" : ""}
        </>
      }
      columns={[
        { unseen: "What" },
        { number: "Now" },
        ...(isNewest ? [] : [{ number: "Newest" }]),
        { number: "This one" },
      ]}
      rows={ROWS.map(([name, key]) => (
        <tr>
          <th scope="row">{name}</th>
          <td class="number">{known[key] ?? <span class="soft">unknown</span>}</td>
          {isNewest ? "" : <td class="number">{newest.counts[key]}</td>}
          <td class="number">{backup.counts[key]}</td>
        </tr>
      ))}
    />
  );
}

function restoreForm({ id, configValid }: GenerationManifest): Markup {
  const chosen: ConfigSource = configValid ? "generation" : "current";
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
      <button type="submit" class="danger">
        Restore this backup
      </button>
    </form>
  );
}
