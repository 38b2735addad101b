import { StewardError } from "../../../runtime/contract/errors.ts";
import { targetOf, type DeployedStack } from "../deployed/stack.ts";
import { answerOf, untilAnswers } from "./answers.ts";
import type { Before } from "./before.ts";
import { serverlessBefore } from "./serverless.ts";

/**
 * Looks at a stack before its update.
 *
 * @param byShares whether a new version is to take over share by share.
 * @throws StewardError `stack_not_serverless` where it cannot.
 */
export async function lookBefore(stack: DeployedStack, byShares: boolean): Promise<Before> {
  const target = await targetOf(stack);
  if (target === "host" && byShares) throw new StewardError("stack_not_serverless");
  return target === "host" ? hostBefore(stack) : serverlessBefore(stack);
}

async function hostBefore({ state }: DeployedStack): Promise<Before> {
  const url = (await state()).output("url");
  const answered = await answerOf(url);
  return {
    migrations: [],
    former: undefined,
    backups: undefined,
    replace: [],
    canary: undefined,
    async goBack() {
      if (answered === undefined) throw new Error("nothing answered before that could be gone back to");
      await untilAnswers(url, answered);
      return [`The former version answers at ${url}.`];
    },
  };
}
