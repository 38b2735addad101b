import { StewardError } from "../../contract/errors.ts";
import type { TenantId } from "../../contract/tenant.ts";
import type { EdgeOptions } from "../../edge/app.ts";
import type { Backups } from "../../edge/ports.ts";

/** Returns the options of a console that shows one chat: its own parts, and the deployment's. */
export function edgeOfChat(
  tenant: TenantId,
  deployment: EdgeOptions,
  own: Pick<EdgeOptions, "ledger" | "sandbox">,
): EdgeOptions {
  const { activity, answers } = deployment;
  return {
    ...deployment,
    ...own,
    tenant,
    activity: {
      ...activity,
      record: (entry) => activity.record({ ...entry, detail: `${entry.detail} ${tenant}`.trim() }),
    },
    answers: {
      keepAnswer: (question, text) => answers.keepAnswer(`${tenant} ${question}`, text),
      lastAnswer: (question) => answers.lastAnswer(`${tenant} ${question}`),
    },
    backups: noBackups,
  };
}

/** A chat's folder belongs to its own user, and only that may read it: a host's backups do not hold it. */
const noBackups: Backups = {
  status: async () => ({}),
  list: async () => [],
  create: refuseBackup,
  verify: refuseBackup,
  restore: refuseBackup,
  cachedConfig: async () => undefined,
  configOf: refuseBackup,
};

function refuseBackup(): Promise<never> {
  return Promise.reject(new StewardError("command_not_allowed", "A host has no backups of single chats."));
}
