import { setTimeout as sleep } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { BINDINGS } from "../../runtime/contract/names.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import { type ResourceProvider, UNKNOWN } from "../shell/provider.ts";
import { type AccountAccess, AccountError, accessTo, askAccount, isTransient } from "./account-api.ts";
import type * as cloudflare from "./cloudflare.ts";
import { type LiveWorker, readLiveWorker, readOrigin } from "./live-worker.ts";
import {
  appliedEntries,
  applyingLine,
  startsWithApplied,
  isSame,
  type Migration,
  type PendingMigrations,
  pendingEntries,
  pendingMigrations,
} from "./migration-list.ts";
import {
  foreignWorkerError,
  goneWorkerError,
  otherMigrationsError,
  refusedMigrationsError,
} from "./migration-refusals.ts";
import { say } from "../shell/connection.ts";

/** Inputs of {@link Migrations}. In Pulumi's state, `migrations` lists the entries known to be applied. */
export interface MigrationsInputs {
  accountId: string;
  workerName: string;
  /** Id of the Worker; unknown in a preview before the Worker exists. */
  workerId: string;
  migrations: readonly Migration[];
  /** The class that owns the container. Only the version that creates a class can declare its container. */
  containerClass: string;
  /** `YYYY-MM-DD` */
  compatibilityDate: string;
  /** The bucket that the Worker binds. It distinguishes this stack's Worker from a foreign one. */
  bucketName: string;
}

/** Maximum attempts to apply the migrations. */
const ROUNDS = 3;
const PAUSE_MS = 300;
const MODULE = "index.js";

/**
 * Provider of {@link Migrations}. The account, not the state, decides which migrations count as applied, even in a
 * preview.
 */
export const migrationsProvider: ResourceProvider<MigrationsInputs, MigrationsInputs> = {
  async check(olds, news) {
    const live = await readLiveWorker(accessTo(news.accountId), news.workerName);
    if (news.workerId === UNKNOWN) return refuseForeign(live, olds.workerName, news);
    await refuseOthers(live, news);
    const entries = live === undefined ? [] : pendingEntries(news.migrations, live);
    if (entries.length > 0) say(applyingLine(entries));
  },

  /** Reads the account again, because the recorded entries may be outdated. */
  async diff(_id, olds, news) {
    if (news.workerId !== olds.workerId || !isSame(olds.migrations, news.migrations))
      return { changes: true };
    const live = await readLiveWorker(accessTo(news.accountId), news.workerName);
    return { changes: live === undefined || pendingEntries(news.migrations, live).length > 0 };
  },

  async create(inputs) {
    await applyMigrations(inputs);
    return { id: "migrations", outs: inputs };
  },

  async read(id, props) {
    const { accountId, workerName } = props;
    const live = await readLiveWorker(accessTo(accountId), workerName);
    if (live === undefined) return { id: "" };
    const inputs = { ...props, workerId: live.id, migrations: appliedEntries(props.migrations, live) };
    return { id, inputs, props: inputs };
  },

  async update(_id, _olds, news) {
    await applyMigrations(news);
    return { outs: news };
  },
};

async function refuseForeign(
  live: LiveWorker | undefined,
  present: string | undefined,
  inputs: MigrationsInputs,
): Promise<void> {
  if (live === undefined) return;
  const origin = await readOrigin(accessTo(inputs.accountId), inputs.workerName, BINDINGS.state);
  throw foreignWorkerError({ ...inputs, live, origin, present });
}

/**
 * Throws if the account's Worker is not the one in Pulumi's state, or if the configured migrations do not start with
 * the applied ones.
 */
async function refuseOthers(live: LiveWorker | undefined, inputs: MigrationsInputs): Promise<void> {
  if (live?.id !== inputs.workerId) throw goneWorkerError(inputs, live);
  if (startsWithApplied(inputs.migrations, live)) return;
  const origin = await readOrigin(accessTo(inputs.accountId), inputs.workerName, BINDINGS.state);
  throw otherMigrationsError({ ...inputs, live, origin });
}

/**
 * Applies the pending migrations. After every request, reads the applied migrations back from the account, because a
 * request may succeed although its response is lost.
 *
 * @throws StewardError `migration_refused` with Cloudflare's message, if migrations are still pending after the last
 * attempt
 */
async function applyMigrations(inputs: MigrationsInputs): Promise<void> {
  const access = accessTo(inputs.accountId);
  let refused: AccountError | undefined;
  for (let round = 1; ; round += 1) {
    const live = await readLiveWorker(access, inputs.workerName);
    await refuseOthers(live, inputs);
    const pending = live && pendingMigrations(inputs.migrations, live);
    if (live === undefined || pending === undefined) return;
    if (refused !== undefined && (round > ROUNDS || isFinal(refused))) {
      throw refusedMigrationsError(pendingEntries(inputs.migrations, live), refused);
    }
    refused = await deployPending(access, inputs, pending).then(() => undefined, asAccountError);
    if (refused !== undefined) await sleep(PAUSE_MS);
  }
}

async function deployPending(
  access: AccountAccess,
  { workerName, containerClass, compatibilityDate }: MigrationsInputs,
  { oldTag, newTag, steps, classes }: PendingMigrations,
): Promise<void> {
  const each = steps.map((created) => (created.length > 0 ? { new_sqlite_classes: created } : {}));
  const migrations = {
    ...(oldTag && { old_tag: oldTag }),
    new_tag: newTag,
    ...(each.length === 1 ? each[0] : { steps: each }),
  };
  const version = await askAccount<{ id: string }>(access, `workers/workers/${workerName}/versions`, {
    method: "POST",
    attempts: 1,
    body: {
      compatibility_date: compatibilityDate,
      main_module: MODULE,
      modules: [
        {
          name: MODULE,
          content_type: "application/javascript+module",
          content_base64: Buffer.from(moduleText(classes)).toString("base64"),
        },
      ],
      migrations,
      ...(classes.includes(containerClass) && { containers: [{ class_name: containerClass }] }),
    },
  });
  await askAccount(access, `workers/scripts/${workerName}/deployments`, {
    method: "POST",
    attempts: 1,
    body: {
      strategy: "percentage",
      versions: [{ version_id: version?.id, percentage: 100 }],
      annotations: { "workers/message": `migration ${newTag}` },
    },
  });
}

/**
 * Returns a minimal module that exports the classes. The Worker runs this module until the new version is deployed.
 */
function moduleText(classes: readonly string[]): string {
  return [
    'import { DurableObject } from "cloudflare:workers";',
    ...classes.map((name) => `export class ${name} extends DurableObject {}`),
    "const init = { status: 503, headers: { 'retry-after': '5' } };",
    "export default { fetch: () => new Response('A new version is being deployed.', init) };",
    "",
  ].join("\n");
}

/**
 * Returns true if a retry cannot succeed. After a 412, a retry can succeed, because another request has applied a
 * migration.
 */
function isFinal(error: AccountError): boolean {
  return !isTransient(error) && error.status !== 412;
}

function asAccountError(error: unknown): AccountError {
  if (error instanceof AccountError) return error;
  throw error;
}

interface MigrationsArgs {
  accountId: pulumi.Input<string>;
  worker: cloudflare.Worker;
  workerName: string;
  /** Validated by `checkMigrations`. */
  migrations: readonly Migration[];
  containerClass: string;
  /** `YYYY-MM-DD` */
  compatibilityDate: string;
  bucketName: pulumi.Input<string>;
  connection?: ConnectionArgs | undefined;
}

/** The Worker's migrations. Resources that bind the Worker's Durable Object classes must depend on this one. */
export class Migrations extends OwnResource {
  /**
   * Tag of the last migration. A migration takes the deployed versions out of service, so the deployment resource
   * deploys them again when the tag changes.
   */
  readonly lastTag: string;

  constructor(name: string, { worker, ...args }: MigrationsArgs, opts?: pulumi.CustomResourceOptions) {
    const last = args.migrations.at(-1);
    if (!last) throw new pulumi.InputPropertyError({ propertyPath: "migrations", reason: "it is empty" });
    const inputs = { ...args, workerId: worker.id };
    super("serverless:Migrations", name, inputs, opts);
    this.lastTag = last.tag;
  }
}
