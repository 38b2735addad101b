import { StewardError } from "../../../runtime/contract/errors.ts";
import { openStackBackups, type StackBackups } from "../deployed/signed.ts";
import { type CommandOptions, openDeployed } from "../deployed/stack.ts";

export interface BackupsOptions extends CommandOptions {
  /** Component name. Default: the only gateway. */
  gateway?: string | undefined;
}

/**
 * Returns an object for listing, creating and verifying the backups of a deployed stack. Creating or verifying a
 * backup starts the container if it is stopped. The object's methods reject with the service's error, or with
 * `service_unreachable` if the service does not answer.
 *
 * @throws StewardError `stack_not_deployed`; BuildFailure, such as `gateway_unknown`, if the stack cannot be read
 */
export async function backups(stackName: string, options: BackupsOptions = {}): Promise<StackBackups> {
  const { state } = await openDeployed(stackName, { ...options, runsProgram: false });
  const found = openStackBackups(await state(), options.gateway);
  if (found === undefined) throw new StewardError("stack_not_deployed");
  return found;
}
