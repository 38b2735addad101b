import { html } from "hono/html";
import type { RestoreReport } from "../../contract/backup.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { heldText } from "./backups.ts";
import { problemList } from "./config-review.ts";
import { reasonBox } from "./home.ts";
import type { Markup } from "./layout.ts";

/** What the page after a check shows. */
export interface BackupCheckView {
  visitor: Visitor;
  id: string;
  /** `undefined` where it is not whole, or could not be checked. */
  report: RestoreReport | undefined;
  problem: Reason | undefined;
}

/** The page of `/_admin/backups/verify`: what a drill found. */
export function backupCheckPage({ visitor, id, report, problem }: BackupCheckView): Markup {
  return adminFrame(
    { title: "Check of a backup", visitor },
    html`<p>
        <code>${id}</code> was unpacked beside the state and compared with its manifest. Nothing was changed.
      </p>
      ${problem === undefined ? "" : html`<div role="alert">${reasonBox(problem)}</div>`}
      ${report === undefined ? "" : wholePart(report)}
      <p><a href="${ROUTES.backupsPage.path}">Back to the backups</a></p>`,
  );
}

function wholePart({ counts, configProblems }: RestoreReport): Markup {
  return html`<p class="state ok" role="status">It is whole</p>
    <p>It holds ${heldText(counts)}.</p>
    ${
      configProblems.length === 0
        ? html`<p>Its config is valid for this version.</p>`
        : html`<h2>Its config is not valid for this version</h2>
            ${problemList(configProblems)}`
    }`;
}
