import type { Deployed, DeployedClass, DeployedScript } from "../runner.ts";
import { servingVersion } from "./lookup.ts";
import type { ModuleStore } from "./modules.ts";
import type { AccountState, NamespaceRecord, WorkerRecord } from "./state.ts";

/** What the runner has to run for an account to be as it says. */
export function deployedOf(state: AccountState, modules: ModuleStore): Deployed {
  return {
    scripts: state.workers.flatMap((worker) => scriptOf(state, worker, modules)),
    buckets: state.buckets.map(({ name }) => name),
    namespaces: state.namespaces.map(({ id }) => id),
    boundNamespaces: state.applications
      .filter(({ goneAt }) => goneAt === undefined)
      .map(({ namespaceId }) => namespaceId),
  };
}

function scriptOf(state: AccountState, worker: WorkerRecord, modules: ModuleStore): DeployedScript[] {
  const version = servingVersion(state, worker.id);
  if (version === undefined) return [];
  return [
    {
      name: worker.name,
      versionId: version.id,
      versionCreatedOn: version.created_on,
      mainModule: version.main_module,
      modules: version.modules.map(({ name, content_type, sha256 }) => ({
        name,
        contentType: content_type,
        sha256,
        content: modules.get(sha256),
      })),
      bindings: version.bindings,
      compatibilityDate: version.compatibility_date,
      compatibilityFlags: version.compatibility_flags,
      classes: state.namespaces
        .filter(({ script }) => script === worker.name)
        .map((namespace) => classOf(state, namespace)),
    },
  ];
}

function classOf(state: AccountState, namespace: NamespaceRecord): DeployedClass {
  const application = state.applications.find((one) => {
    return one.namespaceId === namespace.id && one.goneAt === undefined;
  });
  return {
    className: namespace.class,
    namespaceId: namespace.id,
    sqlite: namespace.use_sqlite,
    containerEnabled: namespace.containerEnabled,
    ...(application && { image: application.configuration.image }),
  };
}
