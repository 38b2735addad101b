import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { BINDINGS } from "../../runtime/contract/names.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import { type ResourceProvider, UNKNOWN } from "../shell/provider.ts";
import { accessTo } from "./account-api.ts";
import { readLiveWorker, readOrigin } from "./live-worker.ts";
import { entriesUpTo, type Migration, renamingLines } from "./migration-list.ts";
import { foreignWorkerError } from "./migration-refusals.ts";
import { say } from "../shell/connection.ts";

/** States written by older versions lack `accountId`. */
interface MigrationPlanArgs {
  accountId: string;
  workerName: string;
  migrations: readonly Migration[];
}

/**
 * Provider that rejects a Worker's new name if another Worker has this name, or if `migrations` lacks the new entry
 * that a rename requires.
 */
export const migrationPlanProvider: ResourceProvider<MigrationPlanArgs, MigrationPlanArgs> = {
  async check(olds, news) {
    const { workerName: former } = olds;
    if (former === undefined || former === news.workerName) return;
    const access = accessTo(news.accountId);
    const [live, target] = await Promise.all(
      [former, news.workerName].map((name) => readLiveWorker(access, name)),
    );
    // After a failed rename, the state may contain a name that no Worker has.
    if (live === undefined) return;
    if (target !== undefined) {
      const origin = await readOrigin(access, news.workerName, BINDINGS.state);
      throw foreignWorkerError({ ...news, bucketName: UNKNOWN, live: target, origin, present: former });
    }
    const applied = entriesUpTo(live.tag) ?? 0;
    if (news.migrations.length <= applied) throw tagMissing(former, news.workerName, `v${applied + 1}`);
    say(renamingLines(former, news.workerName, news.migrations).join("\n"));
  },

  async diff(_id, olds, news) {
    return { changes: olds.workerName !== news.workerName };
  },

  async create(inputs) {
    return { id: "migrations", outs: inputs };
  },

  async update(_id, _olds, news) {
    return { outs: news };
  },
};

function tagMissing(former: string, workerName: string, tag: string): StewardError {
  const detail = `The Worker's name changes from ${former} to ${workerName} without a new tag, ${tag}`;
  return new StewardError("migration_tag_missing", detail, {
    fix: ({ script, configSet }) =>
      `Run \`${script("migrate", "--worker-name", workerName)}\`, which adds the tag; or keep the name: \`${configSet("steward:workerName", former)}\`.`,
  });
}

/**
 * Resource that makes a preview or update fail if the Worker cannot be renamed as configured. The Worker must depend
 * on this resource.
 */
export class MigrationPlan extends OwnResource {
  constructor(
    name: string,
    args: Omit<MigrationPlanArgs, "accountId"> & {
      accountId: pulumi.Input<string>;
      connection: ConnectionArgs;
    },
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("serverless:MigrationPlan", name, { ...args }, opts);
  }
}
