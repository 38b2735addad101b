import type { ModuleStore } from "./account/modules.ts";
import type { AccountState, VersionRecord, WorkerRecord } from "./account/state.ts";
import { presentBindings } from "./bindings.ts";

/**
 * Returns a version as the `workers/workers` API does. Includes the code only with `?include=modules`, and
 * `migration_tag` only once the version has been deployed. Never includes the migrations.
 */
export function presentVersion(
  state: AccountState,
  version: VersionRecord,
  modules?: ModuleStore,
): Record<string, unknown> {
  const worker = ownerOf(state, version);
  const tag = version.migrated ? version.migrations?.new_tag : undefined;
  return {
    ...version.settings,
    id: version.id,
    number: version.number,
    created_on: version.created_on,
    urls: [],
    source: "api",
    main_module: version.main_module,
    compatibility_date: version.compatibility_date,
    compatibility_flags: version.compatibility_flags,
    containers: version.containers,
    bindings: presentBindings(state, worker.name, version.bindings),
    ...(tag !== undefined && { migration_tag: tag }),
    ...(modules && {
      modules: version.modules.map(({ name, content_type, sha256 }) => ({
        name,
        content_type,
        content_base64: Buffer.from(modules.get(sha256)).toString("base64"),
      })),
    }),
  };
}

/** Returns a version as GET `/workers/scripts/{script}/versions/{version}` does. */
export function presentScriptVersion(state: AccountState, version: VersionRecord): Record<string, unknown> {
  const worker = ownerOf(state, version);
  return {
    id: version.id,
    number: version.number,
    metadata: {
      created_on: version.created_on,
      modified_on: version.created_on,
      source: "api",
      hasPreview: false,
    },
    resources: {
      bindings: presentBindings(state, worker.name, version.bindings),
      script: { etag: version.modules[0]?.sha256, handlers: ["fetch"] },
      script_runtime: {
        compatibility_date: version.compatibility_date,
        compatibility_flags: version.compatibility_flags,
        usage_model: "standard",
        ...(worker.migrationTag !== undefined && { migration_tag: worker.migrationTag }),
      },
    },
  };
}

function ownerOf(state: AccountState, version: VersionRecord): WorkerRecord {
  const worker = state.workers.find(({ id }) => id === version.workerId);
  if (worker === undefined) throw new Error(`version ${version.id} has no Worker`);
  return worker;
}
