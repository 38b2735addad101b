import type { Handler } from "hono";
import { html } from "hono/html";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { readQuery } from "../form.ts";
import { adminFrame, htmlPage } from "../pages/admin-frame.ts";
import { age } from "../pages/age.ts";
import type { Markup } from "../pages/layout.ts";
import {
  type Listing,
  type ListingQuery,
  listingQuery,
  pageLinks,
  pageOf,
  searchForm,
} from "../pages/listing.ts";
import type { Activity, ActivityEntry, Clock } from "../ports.ts";
import { dataTable } from "../pages/table.ts";

/** As many as are kept. */
const ENTRIES = 1_000;

/** An action in the words of the page. */
const ACTIONS: Readonly<Record<string, string>> = {
  approve: "Approved",
  grant: "Granted a role",
  reject: "Rejected",
  revoke: "Revoked",
  replay: "Replayed an event",
  restart: "Restarted the gateway",
  backup: "Created a backup",
  restore: "Restored a backup",
  config: "Changed the configuration",
  schedule: "Changed a schedule",
  session: "Started a conversation over",
  read: "Read a conversation",
  delete: "Deleted a conversation",
  model: "Tested a model",
  workspace: "Changed the workspace",
  command: "Ran a command",
  deploy: "Rolled out a version",
};

/** `GET /_admin/activity`: what operators changed, newest first; wakes nothing. */
export function showActivity(activity: Activity, clock: Clock): Handler<AccessVariables> {
  return async function handleActivity(context) {
    const query = readQuery(context, listingQuery());
    const visitor = await context.get("visitor")();
    const entries = await activity.activity(ENTRIES);
    const now = clock();
    const listing = pageOf(entries, query, now, (entry) => ({
      text: `${entry.by} ${actionText(entry)} ${entry.detail}`,
      at: Date.parse(entry.at),
    }));
    return htmlPage(context, activityPage({ visitor, query, listing, isEmpty: entries.length === 0, now }));
  };
}

/** Content of the page of the activity. */
interface ActivityView {
  visitor: Visitor;
  query: ListingQuery;
  listing: Listing<ActivityEntry>;
  /** Nothing was ever recorded. */
  isEmpty: boolean;
  now: number;
}

/** The page of `/_admin/activity`. */
function activityPage({ visitor, query, listing, isEmpty, now }: ActivityView): Markup {
  return adminFrame(
    { title: "Activity", visitor, waits: true },
    isEmpty
      ? html`<p class="soft">No changes yet. Approvals, restarts, restores and edits appear here.</p>`
      : html`${searchForm(ROUTES.activityPage.path, query)}
        ${dataTable({ label: "Activity", caption: html`Changes by operators, newest first: ${listing.count}`, columns: ["When", "Who", "What", "Details"], rows: listing.rows.map((entry) => activityRow(entry, now)) })}
        ${pageLinks(ROUTES.activityPage.path, query, listing)}`,
  );
}

function actionText({ action }: ActivityEntry): string {
  return ACTIONS[action] ?? action;
}

function activityRow(entry: ActivityEntry, now: number): Markup {
  const { at, by, detail } = entry;
  return html`<tr>
    <td>${age(Date.parse(at), now)}</td>
    <th scope="row">${by}</th>
    <td>${actionText(entry)}</td>
    <td><code>${detail}</code></td>
  </tr>`;
}
