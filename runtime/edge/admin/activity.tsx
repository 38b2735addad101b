import { ROUTES } from "../../contract/routes.ts";
import { readQuery } from "../form.ts";
import { adminPage } from "../ui/console.tsx";
import { ageColumn } from "../ui/time.tsx";
import type { Markup } from "../ui/document.tsx";
import { listingQuery, ListTable } from "../ui/listing.tsx";
import { namesOf } from "../ledger-routes.ts";
import type { ActivityEntry } from "../ports.ts";
import { type Names, Person } from "../ui/person.tsx";
import { placeOf } from "./sessions.tsx";
import type { AdminOptions, PageContext } from "./options.ts";

/** Maximum number of entries on the page. The store keeps no more. */
const ENTRIES = 1_000;

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
 * `GET /_admin/activity`: changes by operators, the stack and the platforms, newest first. Does not wake the
 * container.
 */
export async function showActivity(
  context: PageContext,
  { activity, directory, clock }: AdminOptions,
): Promise<Response> {
  const query = readQuery(context, listingQuery());
  await context.get("visitor")();
  const entries = await activity.activity(ENTRIES);
  const now = clock();
  const keys = entries.map(({ detail }) => subjectKeyOf(detail));
  const names = await namesOf(directory, keys);
  const content =
    entries.length === 0 ? (
      <p class="soft">No changes yet. Approvals, restarts, restores and edits appear here.</p>
    ) : (
      <ListTable<ActivityEntry>
        path={ROUTES.activityPage.path}
        query={query}
        now={now}
        rows={entries}
        read={(entry) => ({
          text: `${entry.by} ${actionText(entry)} ${entry.detail} ${names.get(subjectKeyOf(entry.detail))?.name}`,
          at: Date.parse(entry.at),
        })}
        label="Activity"
        caption={(count) => <>Changes by operators, newest first: {count}</>}
        columns={[
          ageColumn("When", now, ({ at }) => Date.parse(at)),
          { head: "Who", kind: "name", by: ({ by }) => by },
          { head: "What", by: actionText },
          { head: "Details", cell: (entry) => detailPart(entry, names) },
        ]}
      />
    );
  return adminPage(context, { title: "Activity", waits: true }, content);
}

function actionText({ action }: ActivityEntry): string {
  return ACTIONS[action] ?? action;
}

function subjectKeyOf(detail: string): string {
  const [, platform, id] = /^(?:pairing (\w+)|devices) (\S+)/.exec(detail) ?? [];
  return id === undefined ? placeOf(detail) : `${platform ?? "web"}:${id}`;
}

function detailPart({ detail, diff }: ActivityEntry, names: Names): Markup {
  const subject = subjectKeyOf(detail);
  const entry = names.get(subject);
  return (
    <>
      {entry ? <Person id={subject} entry={entry} /> : detail !== "" && <code>{detail}</code>}
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
