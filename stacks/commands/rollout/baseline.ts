import type { PreviousVersion } from "../../../infra/serverless/previous-version.ts";
import type { ReplayRecord } from "../../../runtime/contract/replay.ts";
import type { Renewal } from "../../../runtime/contract/tenant.ts";
import type { StackBackups } from "../deployed/signed.ts";

/** Version that ran before an update. Must be plain data, because a rollout's record stores it. */
export interface PreviousDeployment {
  version: PreviousVersion;
  /** Bundle hash and secrets hash of the version, separated by a space; `undefined` if the version did not answer. */
  answered: string | undefined;
}

/** A stack before an update, and how to roll back to it. */
export interface Baseline {
  /** Tags of migrations that the update applies to an existing Worker. */
  migrations: string[];
  /** Version to roll back to. Absent on a host, and if nothing runs yet. */
  previous: PreviousDeployment | undefined;
  /** Backups of the running version. Absent on a host, and if nothing runs yet. */
  backups: StackBackups | undefined;
  /** Fetches the redacted record of past events. Absent if nothing runs yet. */
  replay: (() => Promise<ReplayRecord>) | undefined;
  /** Absent if one sandbox serves every chat. */
  renewal?: (() => Promise<Renewal | null>) | undefined;
  /** Explanation if the live version is not the one that the stack deployed last. */
  strayed: string | undefined;
  /**
   * Rolls back to the previous version and waits until it answers. On a host, only waits, because the update itself
   * rolls back.
   *
   * @returns What was done, one line per step.
   * @throws Error if the previous version cannot be restored.
   */
  restorePrevious(previous: PreviousDeployment | undefined): Promise<string[]>;
}
