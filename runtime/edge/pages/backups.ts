import { html } from "hono/html";
import type { GenerationManifest } from "../../contract/backup.ts";
import type { SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Attempt } from "../admin/attempt.ts";
import type { Flash } from "../admin/flash.ts";
import type { BackupsStatus } from "../ports.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { age } from "./age.ts";
import { reasonBox, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";
import { lastBackup, recoveredPart } from "./overview.ts";

/** What the page of the backups shows. */
export interface BackupsView {
  visitor: Visitor;
  flash: Flash;
  status: SandboxStatus;
  standing: Attempt<BackupsStatus>;
  /** Newest first. */
  list: Attempt<GenerationManifest[]>;
  now: number;
}

/** The page of `/_admin/backups`. */
export function backupsPage({ visitor, flash, status, standing, list, now }: BackupsView): Markup {
  const problem = standing.problem ?? standing.value?.problem;
  // What the button met is told below with its detail.
  const shown = problem !== undefined && flash.problem === problem.code ? {} : flash;
  return adminFrame(
    { title: "Backups", visitor, flash: shown },
    html`${stateLine(status)}
      ${
        status.state === "stopped"
          ? html`<p class="soft">Making, checking or restoring a backup starts the container.</p>`
          : ""
      }
      <p>
        Last backup: ${lastBackup(standing, now)}. They are also made by themselves when something changed.
      </p>
      ${problem === undefined ? "" : html`<div role="alert">${reasonBox(problem)}</div>`}
      ${recoveredPart(standing, now)}
      <div class="actions">
        ${createForm("no", "Back up now")}
        ${problem?.code === "backup_refused" ? createForm("yes", "Back up although it holds less") : ""}
      </div>
      <h2>Kept</h2>
      ${reasonBox(list.problem)} ${list.value?.length === 0 ? html`<p class="soft">None yet.</p>` : ""}
      <ul class="cards">
        ${(list.value ?? []).map((backup) => backupCard(backup, now))}
      </ul>`,
  );
}

/** How much a backup holds, in a line. */
export function heldText({
  sessions,
  messages,
  schedules,
  approvals,
  files,
}: GenerationManifest["counts"]): string {
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
    <button type="submit">${label}</button>
  </form>`;
}

function backupCard(backup: GenerationManifest, now: number): Markup {
  const { id, createdAt, size, counts, agentVersion, configValid } = backup;
  return html`<li>
    <h3><code>${id}</code></h3>
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
