import type { Log, WorkerRunner } from "../runner.ts";
import { deployedOf } from "./deployed.ts";
import type { Faults } from "../faults.ts";
import type { ModuleStore } from "./modules.ts";
import type { AccountState } from "./state.ts";
import type { AccountStore } from "./store.ts";

/** What the routes work with. */
export interface AccountContext {
  store: AccountStore;
  modules: ModuleStore;
  runner: WorkerRunner;
  /** Milliseconds since the epoch. */
  clock: () => number;
  log: Log;
  /** Hands out what a registry beside the emulation takes. Default: there is no registry. */
  issueCredentials?: IssueCredentials | undefined;
  faults: Faults;
}

/** Credentials for a registry with these rights. */
export type IssueCredentials = (permissions: readonly string[]) => { username: string; password: string };

/** Brings the runner to the state that a change is about to commit; a refusal takes the change back. */
export async function runDeployed(context: AccountContext, draft: AccountState): Promise<void> {
  await context.runner.apply(deployedOf(draft, context.modules));
}

/** The present time as the API writes it. */
export function timestamp(context: AccountContext): string {
  return new Date(context.clock()).toISOString();
}
