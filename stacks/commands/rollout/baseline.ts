import type { PreviousVersion } from "../../../infra/serverless/previous-version.ts";
import type { ReplayRecord } from "../../../runtime/contract/replay.ts";
import type { Renewal } from "../../../runtime/contract/tenant.ts";
import type { StackBackups } from "../deployed/signed.ts";

/** Version that ran before an update. Plain data: a record keeps it. */
export interface PreviousDeployment {
  version: PreviousVersion;
  /** Version that answered, where one did. */
  answered: string | undefined;
}

/** A stack before an update, and the way back to it. */
export interface Baseline {
  /** Tags of the migrations that the update applies to an existing Worker. */
  migrations: string[];
  /** Absent if nothing is running yet, and on a host, whose update keeps and restores the previous container itself. */
  previous: PreviousDeployment | undefined;
  /** Absent if nothing is running yet, and on a host, whose update makes one itself. */
  backups: StackBackups | undefined;
  /** Gets the redacted record of past events; absent if nothing is running yet. */
  replay: (() => Promise<ReplayRecord>) | undefined;
  /** Asks how the new version reaches the chats' containers; absent if one sandbox serves every chat. */
  renewal?: (() => Promise<Renewal | null>) | undefined;
  /** Sentence about what serves, if that is not what the stack deployed last: somebody rolled back, or an update failed. */
  strayed: string | undefined;
  /** Puts the former version back and waits until it answers. @returns what was done, a line each; throws where it cannot. */
  restorePrevious(previous: PreviousDeployment | undefined): Promise<string[]>;
}
