import type { Log, WorkerRunner } from "../runner.ts";
import { deployedOf } from "./deployed.ts";
import type { Faults } from "../faults.ts";
import type { ModuleStore } from "./modules.ts";
import type { AccountState } from "./state.ts";
import type { AccountStore } from "./store.ts";

export interface AccountContext {
  store: AccountStore;
  modules: ModuleStore;
  runner: WorkerRunner;
  clock: () => number;
  log: Log;
  /** Issues credentials for a real container registry. If omitted, the emulation has no registry. */
  issueCredentials?: IssueCredentials | undefined;
  faults: Faults;
}

export type IssueCredentials = (permissions: readonly string[]) => { username: string; password: string };

/** Runs the draft's deployments. If the runner rejects them, throws an error, so that the draft is discarded. */
export async function runDeployed(context: AccountContext, draft: AccountState): Promise<void> {
  await context.runner.apply(deployedOf(draft, context.modules));
}

export function timestamp(context: AccountContext): string {
  return new Date(context.clock()).toISOString();
}
