import type { Handler } from "hono";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readQuery } from "../form.ts";
import { adminPage } from "../ui/console.tsx";
import { Age } from "../ui/time.tsx";
import type { Markup } from "../ui/document.tsx";
import { listingQuery, PageLinks, pageOf, SearchForm } from "../ui/listing.tsx";
import type { ActivityEntry } from "../ports.ts";
import { Table } from "../ui/table.tsx";
import type { AdminOptions } from "./options.ts";

/** Equals the number of entries stored. */
const ENTRIES = 1_000;

/** Labels of the actions on the page. */
const ACTIONS: Readonly<Record<string, string>> = {
  approve: "Approved",
  grant: "Granted a role",
  reject: "Rejected",
  revoke: "Revoked",
  replay: "Replayed an event",
  restart: "Restarted the gateway",
  backup: "Created a backup",
  download: "Downloaded a backup",
  restore: "Restored a backup",
  verify: "Verified a backup",
  config: "Changed the configuration",
  schedule: "Changed a schedule",
  session: "Started a conversation over",
  read: "Read a conversation",
  delete: "Deleted a conversation",
  model: "Tested a model",
  channel: "Tested a channel",
  workspace: "Changed the workspace",
  command: "Ran a command",
  deploy: "Rolled out a version",
  move: "Changed the id of a group",
};

/**
 * `GET /_admin/activity`: changes made by operators, the stack and the platforms, newest first. Does not wake the
 * container.
 */
export function showActivity({ activity, clock }: AdminOptions): Handler<AccessVariables> {
  return async function handleActivity(context) {
    const query = readQuery(context, listingQuery());
    const entries = await activity.activity(ENTRIES);
    const now = clock();
    const listing = pageOf(entries, query, now, (entry) => ({
      text: `${entry.by} ${actionText(entry)} ${entry.detail}`,
      at: Date.parse(entry.at),
    }));
    const { path } = ROUTES.activityPage;
    const content =
      entries.length === 0 ? (
        <p class="soft">No changes yet. Approvals, restarts, restores and edits appear here.</p>
      ) : (
        <>
          <SearchForm path={path} query={query} />
          <Table
            label="Activity"
            caption={<>Changes by operators, newest first: {listing.count}</>}
            columns={[
              { head: "When", cell: ({ at }) => <Age at={Date.parse(at)} now={now} /> },
              { head: "Who", kind: "name", cell: ({ by }) => by },
              { head: "What", cell: actionText },
              { head: "Details", cell: detailPart },
            ]}
            rows={listing.rows}
          />
          <PageLinks path={path} query={query} listing={listing} />
        </>
      );
    return adminPage(context, { title: "Activity", waits: true }, content);
  };
}

function actionText({ action }: ActivityEntry): string {
  return ACTIONS[action] ?? action;
}

function detailPart({ detail, diff }: ActivityEntry): Markup {
  return (
    <>
      {detail !== "" && <code>{detail}</code>}
      {diff !== undefined && (
        <details>
          <summary>Show the change</summary>
          <pre class="diff" tabindex={0}>
            {diff.split("\n").map(diffLine)}
          </pre>
        </details>
      )}
    </>
  );
}

function diffLine(line: string): Markup {
  const text = line.slice(1);
  if (line.startsWith("+")) return <ins>+ {text}</ins>;
  if (line.startsWith("-")) return <del>- {text}</del>;
  return <span class={line.startsWith("@") ? "soft" : undefined}>&nbsp; {text}</span>;
}
