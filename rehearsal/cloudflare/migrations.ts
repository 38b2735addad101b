import { hexId } from "./account/ids.ts";
import type {
  AccountState,
  MigrationRecord,
  MigrationStep,
  VersionRecord,
  WorkerRecord,
} from "./account/state.ts";
import { ApiError } from "./envelope.ts";

/**
 * Throws an ApiError 412 with code 10079 (workers-sdk #705) unless `old_tag` is the tag of the last deployed
 * migration: https://developers.cloudflare.com/durable-objects/reference/durable-objects-migrations/
 */
export function checkTag(worker: WorkerRecord, migration: MigrationRecord): void {
  const given = migration.old_tag ?? "";
  const expected = worker.migrationTag ?? "";
  if (given === expected) return;
  throw new ApiError(
    412,
    10079,
    `Actor migration tag precondition failed, got tag '${given}' when expected tag is '${expected}'.`,
  );
}

/** Applies a version's migrations at its first deployment. A rollback to the version does not apply them again. */
export function applyMigrations(state: AccountState, worker: WorkerRecord, version: VersionRecord): void {
  const { migrations } = version;
  if (migrations === undefined || version.migrated) return;
  checkTag(worker, migrations);
  for (const step of migrations.steps) applyStep(state, worker, version, step);
  if (migrations.new_tag !== undefined) worker.migrationTag = migrations.new_tag;
  version.migrated = true;
}

function applyStep(
  state: AccountState,
  worker: WorkerRecord,
  version: VersionRecord,
  step: MigrationStep,
): void {
  for (const name of step.new_classes ?? []) create(state, worker, version, name, false);
  for (const name of step.new_sqlite_classes ?? []) create(state, worker, version, name, true);
  for (const { from, to } of step.renamed_classes ?? []) find(state, worker, from).class = to;
  for (const name of step.deleted_classes ?? []) {
    const gone = find(state, worker, name);
    state.namespaces = state.namespaces.filter((namespace) => namespace !== gone);
  }
}

/**
 * Creates a Durable Object namespace. Only the version that creates it can enable containers:
 * https://github.com/cloudflare/workers-sdk/issues/14614
 */
function create(
  state: AccountState,
  worker: WorkerRecord,
  version: VersionRecord,
  name: string,
  sqlite: boolean,
): void {
  if (state.namespaces.some((one) => one.script === worker.name && one.class === name)) {
    const kind = sqlite ? "new-sqlite-class" : "new-class";
    throw new ApiError(
      400,
      10074,
      `Cannot apply --${kind} migration to class '${name}' that is already depended on by existing Durable Objects`,
    );
  }
  state.namespaces.push({
    id: hexId(),
    script: worker.name,
    class: name,
    use_sqlite: sqlite,
    containerEnabled: version.containers.some((container) => container.class_name === name),
  });
}

function find(state: AccountState, worker: WorkerRecord, name: string): AccountState["namespaces"][number] {
  const found = state.namespaces.find((one) => one.script === worker.name && one.class === name);
  if (found) return found;
  throw new ApiError(
    400,
    10061,
    `Cannot migrate class '${name}': no Durable Object namespace of Worker '${worker.name}' has it`,
  );
}
