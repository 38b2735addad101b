import type { AccountState } from "../../rehearsal/cloudflare/account/state.ts";

interface StateResource {
  urn: string;
  type: string;
  [field: string]: unknown;
}

interface Exported {
  version: number;
  deployment: { resources?: StateResource[] };
}

/**
 * Converts a state to that of versions that had a component instead of the resource `serverless:Migrations`.
 *
 * @param booked Tags of the migrations in the plan.
 */
export function inFormerShape(state: Exported, account: AccountState, booked: readonly string[]): Exported {
  const { resources = [] } = state.deployment;
  const own = resources.findIndex(({ type }) => type === "pulumi-nodejs:dynamic/serverless:Migrations");
  const now = resources[own];
  const worker = resources.find(({ type }) => type === "cloudflare:index/worker:Worker");
  const version = account.versions.find(({ migrations }) => migrations !== undefined);
  const deployment = account.deployments.find(({ versions }) => versions[0]?.version_id === version?.id);
  if (now === undefined || worker === undefined) throw new Error("this state has no migrations");

  const migrations = booked.map((tag) => ({ tag, newSqliteClasses: ["Sandbox"] }));
  const before = now.urn.replace(
    "pulumi-nodejs:dynamic/serverless:Migrations",
    "steward:serverless:Migrations",
  );
  const below = (type: string, name: string) =>
    `${before.split("::").slice(0, 2).join("::")}::${before.split("::")[2]}$${type}::${name}`;
  const versionUrn = below("cloudflare:index/workerVersion:WorkerVersion", "worker-migrate-v1");
  const deployedUrn = below(
    "cloudflare:index/workersDeployment:WorkersDeployment",
    "worker-migrate-v1-deployed",
  );
  const frozen = {
    custom: true,
    parent: before,
    provider: worker["provider"],
    ignoreChanges: ["*"],
    replaceWith: [worker.urn],
  };
  const versionInputs = {
    accountId: account.accountId,
    workerId: version?.workerId,
    compatibilityDate: version?.compatibility_date,
    mainModule: "index.js",
    modules: [],
    migrations: { newTag: "v1", newSqliteClasses: ["Sandbox"] },
    containers: [{ className: "Sandbox" }],
  };
  const deploymentInputs = {
    accountId: account.accountId,
    scriptName: "steward",
    strategy: "percentage",
    versions: [{ percentage: 100, versionId: version?.id }],
  };
  const former: StateResource[] = [
    { urn: before, type: "steward:serverless:Migrations", custom: false, parent: now["parent"] },
    {
      ...frozen,
      urn: versionUrn,
      type: "cloudflare:index/workerVersion:WorkerVersion",
      id: version?.id,
      inputs: versionInputs,
      outputs: { ...versionInputs, id: version?.id },
      dependencies: [worker.urn],
    },
    {
      ...frozen,
      urn: deployedUrn,
      type: "cloudflare:index/workersDeployment:WorkersDeployment",
      id: deployment?.id,
      inputs: deploymentInputs,
      outputs: { ...deploymentInputs, id: deployment?.id },
      dependencies: [worker.urn, versionUrn],
    },
  ];
  const rewritten = resources.flatMap((resource, at): StateResource[] => {
    if (at === own) return former;
    if (resource.type === "pulumi-nodejs:dynamic/serverless:MigrationPlan") {
      const booking = { workerName: "steward", migrations };
      return [
        {
          ...resource,
          inputs: booking,
          outputs: booking,
          propertyDependencies: {},
        },
      ];
    }
    return [JSON.parse(JSON.stringify(resource).replaceAll(now.urn, deployedUrn)) as StateResource];
  });
  return { ...state, deployment: { ...state.deployment, resources: rewritten } };
}
