import { StewardError } from "../../../runtime/contract/errors.ts";
import { openStackBackups, type StackBackups } from "../deployed/signed.ts";
import { type CommandOptions, openDeployed } from "../deployed/stack.ts";

/** Options of {@link backups}. */
export interface BackupsOptions extends CommandOptions {
  /** Name of the component, in a program of your own that has several gateways. Default: the only one. */
  gateway?: string | undefined;
}

/**
 * Returns the backups of a deployed stack, which the service itself lists, makes and checks. Making or checking one
 * starts a stopped container.
 *
 * @throws StewardError `stack_not_deployed`; BuildFailure `gateway_unknown`, or if the stack cannot be read. The methods reject with the
 * service's own refusal, or with `service_unreachable`.
 */
export async function backups(stackName: string, options: BackupsOptions = {}): Promise<StackBackups> {
  const { state } = await openDeployed(stackName, { ...options, runsProgram: false });
  const found = openStackBackups(await state(), options.gateway);
  if (found === undefined) throw new StewardError("stack_not_deployed");
  return found;
}
