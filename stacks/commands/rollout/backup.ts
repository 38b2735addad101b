import { StewardError } from "../../../runtime/contract/errors.ts";
import { causeOf } from "../../../infra/shell/cause.ts";
import type { Before } from "./before.ts";

/** What came of the backup before an update: one of these. Plain data: a record keeps it. */
export interface BackupOutcome {
  /** The id of what was made. */
  made?: string;
  /** Why none was asked for. */
  skipped?: string;
  /** Why none could be made. */
  refused?: string;
}

/** Makes a backup of what runs, by the service itself; starts a stopped container. Never rejects. */
export async function backUp({ backups, former }: Before, without: boolean): Promise<BackupOutcome> {
  if (without) return { skipped: "nobody wanted one" };
  if (backups === undefined) return { skipped: "nothing runs yet, or the update makes one by itself" };
  if (former?.answered === undefined) return { skipped: "what runs does not answer" };
  try {
    const { id } = await backups.create();
    return { made: id };
  } catch (error) {
    const code = error instanceof StewardError ? ` (${error.code})` : "";
    return { refused: `The backup before the update failed${code}: ${causeOf(error)}` };
  }
}

/** When the newest backup was made, as ISO 8601, where the service says. */
export async function newestBackup({ backups, former }: Before): Promise<string | undefined> {
  if (former?.answered === undefined) return undefined;
  const list = await backups?.list().catch(() => undefined);
  return list?.backups[0]?.createdAt;
}
