import type { DeployedAccount, DeployedClass, DeployedScript } from "../runner.ts";
import { ownerOf } from "../bindings.ts";
import { canaryScriptName, servingShares } from "./lookup.ts";
import type { ModuleStore } from "./modules.ts";
import type { AccountState, BindingRecord, NamespaceRecord, VersionRecord, WorkerRecord } from "./state.ts";

export function deployedOf(state: AccountState, modules: ModuleStore): DeployedAccount {
  const applications = state.applications.filter(({ goneAt }) => goneAt === undefined);
  return {
    scripts: state.workers.flatMap((worker) => scriptsOf(state, worker, modules)),
    buckets: state.buckets.map(({ name }) => name),
    namespaces: state.namespaces.map(({ id }) => id),
    boundNamespaces: applications.map(({ namespaceId }) => namespaceId),
    maxInstances: Object.fromEntries(
      applications.flatMap(({ namespaceId, settings: { max_instances: most } }) =>
        typeof most === "number" ? [[namespaceId, most]] : [],
      ),
    ),
  };
}

/**
 * Returns the scripts of the versions that serve requests. The emulated account runs all Durable Objects on the
 * version with the largest share of requests; Cloudflare distributes the objects among the versions:
 * https://developers.cloudflare.com/workers/versions-and-deployments/gradual-deployments/with-durable-objects/
 */
function scriptsOf(state: AccountState, worker: WorkerRecord, modules: ModuleStore): DeployedScript[] {
  const [first, second] = servingShares(state, worker.id).map(({ version }) => version);
  const classes = state.namespaces
    .filter(({ script }) => script === worker.name)
    .map((namespace) => classOf(state, namespace));
  return [
    ...(first ? [{ ...codeOf(first, modules), name: worker.name, bindings: first.bindings, classes }] : []),
    ...(second ? [{ ...codeOf(second, modules), ...canaryScript(worker, second), classes: [] }] : []),
  ];
}

/**
 * Returns the name and bindings of the canary's script. The bindings point to the Durable Objects of the main script.
 */
function canaryScript(
  worker: WorkerRecord,
  version: VersionRecord,
): Pick<DeployedScript, "name" | "bindings"> {
  const bindings = version.bindings.map((binding): BindingRecord => {
    if (binding.type !== "durable_object_namespace") return binding;
    return { ...binding, script_name: ownerOf(worker.name, binding) };
  });
  return { name: canaryScriptName(worker, version), bindings };
}

function codeOf(
  version: VersionRecord,
  modules: ModuleStore,
): Omit<DeployedScript, "name" | "bindings" | "classes"> {
  return {
    versionId: version.id,
    versionCreatedOn: version.created_on,
    mainModule: version.main_module,
    modules: version.modules.map(({ name, content_type, sha256 }) => ({
      name,
      contentType: content_type,
      sha256,
      content: modules.get(sha256),
    })),
    compatibilityDate: version.compatibility_date,
    compatibilityFlags: version.compatibility_flags,
  };
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
