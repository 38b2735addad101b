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

export interface AdminOptions {
  /** Hash of the edge's bundle, or `source`. */
  bundle: string;
  ledger: Ledger;
  directory: NameDirectory;
  sandbox: Sandbox;
  backups: Backups;
  clock: Clock;
  activity: Activity;
  answers: AnswerMemory;
  /** Set if each chat has a separate sandbox. */
  tenants?: Tenants | undefined;
  log: Log;
  record: RecordChange;
}

/** Request of a signed-in operator. */
export type PageContext = Context<AccessVariables>;
