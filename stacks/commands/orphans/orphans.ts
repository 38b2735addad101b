import type { AccountAccess } from "../../../infra/serverless/account-api.ts";
import { findOrphans, type Orphan, deleteOrphan } from "../../../infra/serverless/container-api.ts";
import { serverlessSettings } from "../deployed/config.ts";
import { type CommandOptions, openDeployed } from "../deployed/stack.ts";

export type { Orphan };

/**
 * Returns the container applications that remain in a serverless stack's account after their Workers were deleted.
 *
 * @throws StewardError `stack_not_serverless`, `stack_config_invalid`; BuildFailure if the stack cannot be read
 */
export async function orphans(stackName: string, options: CommandOptions = {}): Promise<Orphan[]> {
  return findOrphans(await accountOf(stackName, options));
}

/**
 * Removes an orphaned container application.
 *
 * @param id From {@link orphans}.
 * @throws The errors of {@link orphans}; StewardError `application_in_use` if it is not an orphan.
 */
export async function removeOrphan(
  stackName: string,
  id: string,
  options: CommandOptions = {},
): Promise<Orphan> {
  return deleteOrphan(await accountOf(stackName, options), id);
}

async function accountOf(stackName: string, options: CommandOptions): Promise<AccountAccess> {
  const stack = await openDeployed(stackName, { ...options, runsProgram: false });
  const { config, cloudflare } = serverlessSettings(await stack.config());
  return { accountId: config.accountId, ...cloudflare };
}
