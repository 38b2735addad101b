import type { Context } from "hono";
import type { Log } from "../../shared/log.ts";
import type { AccessVariables } from "../access.ts";
import type { Tenants } from "../tenants/ports.ts";
import type {
  Activity,
  AnswerMemory,
  Backups,
  Clock,
  Ledger,
  NameDirectory,
  RecordChange,
  Sandbox,
} from "../ports.ts";

/** Dependencies of the administration's pages and their forms. */
export interface AdminOptions {
  /** The hash of the bundle that the edge runs from, or `source`. */
  bundle: string;
  ledger: Ledger;
  directory: NameDirectory;
  sandbox: Sandbox;
  backups: Backups;
  clock: Clock;
  activity: Activity;
  answers: AnswerMemory;
  /** Set if each chat has a sandbox of its own. */
  tenants?: Tenants | undefined;
  log: Log;
  record: RecordChange;
}

/** Request for a page of the administration, by somebody who is signed in. */
export type PageContext = Context<AccessVariables>;
