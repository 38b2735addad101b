import { type Fix, StewardError } from "../../runtime/contract/errors.ts";
import { UNKNOWN } from "../shell/provider.ts";
import type { AccountError } from "./account-api.ts";
import type { LiveWorker, WorkerOrigin } from "./live-worker.ts";
import { appliedEntries, entriesUpTo, type Migration } from "./migration-list.ts";

interface Wanted {
  accountId: string;
  workerName: string;
  migrations: readonly Migration[];
  /** Name of the state bucket; {@link UNKNOWN} in a preview that creates or adopts the bucket. */
  bucketName: string;
}

interface Found {
  live: LiveWorker;
  origin: WorkerOrigin;
}

export function otherMigrationsError({ workerName, migrations, live, origin }: Wanted & Found): StewardError {
  const { tag = "none", classes } = live;
  const has = `has the migration tag ${tag} and the classes ${classes.join(", ") || "none"}`;
  const since = `last deployed ${origin.deployed ?? "never"}`;
  const detail = `The account ${has} for the Worker ${workerName}, ${since}. This differs from steward:migrations`;
  return new StewardError("migration_changed", detail, { fix: followFix(migrations, live) });
}

function followFix(migrations: readonly Migration[], live: LiveWorker): Fix {
  const count = entriesUpTo(live.tag);
  if (count === undefined) {
    return ({ script }) =>
      `The tag is not of the form v1, v2, …, so no list can follow it. Move to another Worker: \`${script("migrate", "--worker-name", "<another name>")}\``;
  }
  const added = migrations.slice(count).map(({ newSqliteClasses }, index): Migration => {
    return { tag: `v${count + index + 1}`, newSqliteClasses };
  });
  const list = JSON.stringify([...appliedEntries(migrations, live), ...added]);
  return ({ configSet }) =>
    `Run \`${configSet("steward:migrations", list)}\`, and add new entries after these.`;
}

export function goneWorkerError({ workerName }: Wanted, live: LiveWorker | undefined): StewardError {
  const what = live === undefined ? "is gone" : "is not the one that this stack created";
  return new StewardError("worker_gone", `The Worker ${workerName} ${what}`);
}

export function refusedMigrationsError(
  entries: readonly Migration[],
  { message }: AccountError,
): StewardError {
  const tags = entries.map(({ tag }) => tag).join(", ");
  return new StewardError("migration_refused", `The migrations ${tags} were not applied. ${message}`);
}

/**
 * Returns the error for a Worker that exists in the account but is not in the stack's state.
 *
 * @param present name of the stack's own Worker in the state, if any
 */
export function foreignWorkerError(found: Wanted & Found & { present: string | undefined }): StewardError {
  const { workerName, origin } = found;
  const since = origin.deployed === undefined ? "never deployed" : `last deployed ${origin.deployed}`;
  const binds = origin.bucketName === undefined ? "" : `, with the bucket ${origin.bucketName}`;
  const detail = `The account has a Worker ${workerName} already, ${since}${binds}; it is not in this stack's state`;
  return new StewardError("worker_name_taken", detail, { fix: nameTakenFix(found) });
}

function nameTakenFix(found: Wanted & Found & { present: string | undefined }): Fix {
  const { workerName, origin, present, bucketName } = found;
  const isRename = present !== undefined && present !== workerName;
  const rename: Exclude<Fix, string> = ({ script, configSet }) =>
    isRename
      ? `\`${script("migrate", "--worker-name", "<another name>")}\``
      : `\`${configSet("steward:workerName", "<another name>")}\``;
  if (origin.deployed === undefined) {
    return (commands) =>
      `An interrupted update may have left this empty Worker: delete it (dashboard: Workers & Pages, ${workerName}, Settings, Delete) and deploy again; or choose another name: ${rename(commands)}`;
  }
  const mayBeOwn =
    bucketName === origin.bucketName || (bucketName === UNKNOWN && origin.bucketName !== undefined);
  if (!mayBeOwn) return (commands) => `Choose another name: ${rename(commands)}`;
  if (isRename) {
    return (commands) =>
      `If it is this stack's previous Worker, the update to ${present} was interrupted: finish it with \`${commands.configSet("steward:workerName", present)}\`, and deploy again. If not, choose another name: ${rename(commands)}`;
  }
  return (commands) => {
    const words = ["-f", "import.json", "--generate-code=false", "--protect=false", "--yes"];
    const importing = `echo '${importFile(found)}' > import.json && ${commands.pulumi("import", ...words)}`;
    return `If ${origin.bucketName} is this stack's bucket, the Worker is this stack's own: import it with \`${importing}\`, and deploy again. If not, choose another name: ${rename(commands)}`;
  };
}

/** https://www.pulumi.com/docs/iac/guides/migration/import/#bulk-import-operations */
function importFile({ accountId, live }: Wanted & Found): string {
  const owner = { type: "steward:serverless:Worker", name: "owner", logicalName: "worker", component: true };
  const worker = {
    type: "cloudflare:index/worker:Worker",
    name: "worker",
    id: `${accountId}/${live.id}`,
    parent: "owner",
  };
  return JSON.stringify({ resources: [owner, worker] });
}
