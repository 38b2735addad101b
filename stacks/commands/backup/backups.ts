import { StewardError } from "../../../runtime/contract/errors.ts";
import { stackBackups, type StackBackups } from "../deployed/signed.ts";
import { type CommandOptions, openDeployed } from "../deployed/stack.ts";

/**
 * Returns the backups of a deployed stack, which the service itself lists, makes and checks. Making or checking one
 * starts a stopped container.
 *
 * @throws StewardError `stack_not_deployed`; BuildFailure if the stack cannot be read. The methods reject with the
 * service's own refusal, or with `service_unreachable`.
 */
export async function backups(stackName: string, options: CommandOptions = {}): Promise<StackBackups> {
  const { state } = await openDeployed(stackName, { ...options, runsProgram: false });
  const found = stackBackups(await state());
  if (found === undefined) throw new StewardError("stack_not_deployed");
  return found;
}
