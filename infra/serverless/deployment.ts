import * as pulumi from "@pulumi/pulumi";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import {
  type AccountAccess,
  AccountError,
  accessTo,
  askAccount,
  ATTEMPTS,
  isTransient,
  pauseAfter,
} from "./account-api.ts";

/** A Worker version and the percentage of requests that it serves. */
export interface Share {
  versionId: string;
  percentage: number;
}

export interface LiveDeployment {
  id: string;
  versions: Share[];
}

interface DeploymentInputs {
  accountId: string;
  scriptName: string;
  versions: Share[];
  /**
   * Tag of the last migration. When the tag changes, the traffic split in `versions` must be deployed again, because
   * applying a migration sends all requests to a temporary version of the Worker.
   */
  lastTag: string;
}

interface DeploymentOutputs extends DeploymentInputs {
  deploymentId: string;
}

/**
 * Provider of {@link Deployment}. Every preview reads the newest deployment, to detect rollbacks, traffic splits and
 * uploads made outside the stack.
 */
export const deploymentProvider: ResourceProvider<DeploymentInputs, DeploymentOutputs> = {
  async diff(_id, olds, news) {
    const replaces = (["accountId", "scriptName"] as const).filter((key) => olds[key] !== news[key]);
    if (replaces.length > 0) return { changes: true, replaces };
    const live = await newestDeployment(accessTo(news.accountId), news.scriptName);
    return { changes: !serves(live, news.versions) || olds.lastTag !== news.lastTag };
  },

  async create(inputs) {
    const { id } = await deploy(inputs);
    return { id: inputs.scriptName, outs: { ...inputs, deploymentId: id } };
  },

  /** Reports the deployment as gone if the Worker is gone or was never deployed. */
  async read(id, props) {
    const live = await newestDeployment(accessTo(props.accountId), props.scriptName);
    if (live === undefined) return { id: "" };
    const read = { ...props, versions: live.versions, deploymentId: live.id };
    // Remove `deploymentId`, which is not an input. The cast is needed: Pulumi's type requires all outputs.
    const { deploymentId: _, ...inputs } = read;
    return { id, inputs: inputs as DeploymentOutputs, props: read };
  },

  async update(_id, _olds, news) {
    const { id } = await deploy(news);
    return { outs: { ...news, deploymentId: id } };
  },

  /** Does nothing: Cloudflare deletes deployments with their Worker. */
  async delete() {},
};

function deploy({ accountId, scriptName, versions, lastTag }: DeploymentInputs): Promise<LiveDeployment> {
  return deployVersions(accessTo(accountId), scriptName, versions, `after migration ${lastTag}`);
}

/**
 * Deploys versions of a Worker, with percentages that add up to 100. Does nothing if the newest deployment is the
 * same.
 *
 * @throws AccountError
 */
export async function deployVersions(
  access: AccountAccess,
  scriptName: string,
  versions: readonly Share[],
  message: string,
): Promise<LiveDeployment> {
  for (let attempt = 1; ; attempt += 1) {
    const live = await newestDeployment(access, scriptName);
    // An earlier attempt may have succeeded although its response was lost.
    if (live !== undefined && serves(live, versions)) return live;
    try {
      return await post(access, scriptName, versions, message);
    } catch (error) {
      if (!isTransient(error) || attempt === ATTEMPTS) throw error;
      await pauseAfter(attempt, error);
    }
  }
}

async function post(
  access: AccountAccess,
  scriptName: string,
  versions: readonly Share[],
  message: string,
): Promise<LiveDeployment> {
  const posted = await askAccount<ListedDeployment>(access, pathOf(scriptName), {
    method: "POST",
    attempts: 1,
    body: {
      strategy: "percentage",
      versions: versions.map(({ versionId, percentage }) => ({ version_id: versionId, percentage })),
      annotations: { "workers/message": message },
    },
  });
  if (posted === undefined) throw new AccountError(404, `The Worker ${scriptName} does not exist (404).`);
  return toLive(posted);
}

function serves(live: LiveDeployment | undefined, wanted: readonly Share[]): boolean {
  return live !== undefined && sharesText(live.versions) === sharesText(wanted);
}

/** Returns a traffic split as text, sorted by version. Example: `<version> at 100 %`. */
export function sharesText(shares: readonly Share[]): string {
  const texts = shares.map(({ versionId, percentage }) => `${versionId} at ${percentage} %`);
  return texts.sort().join(" and ");
}

/**
 * Returns the deployment that serves traffic, which the API lists first; `undefined` if there is none:
 * https://developers.cloudflare.com/api/resources/workers/subresources/scripts/subresources/deployments/methods/list/
 *
 * @throws AccountError
 */
export async function newestDeployment(
  access: AccountAccess,
  scriptName: string,
): Promise<LiveDeployment | undefined> {
  const listed = await askAccount<{ deployments: ListedDeployment[] }>(access, pathOf(scriptName));
  const newest = listed?.deployments[0];
  return newest && toLive(newest);
}

function pathOf(scriptName: string): string {
  return `workers/scripts/${scriptName}/deployments`;
}

interface ListedDeployment {
  id: string;
  versions: { version_id: string; percentage: number }[];
}

function toLive({ id, versions }: ListedDeployment): LiveDeployment {
  return {
    id,
    versions: versions.map(({ version_id: versionId, percentage }) => ({ versionId, percentage })),
  };
}

interface DeploymentArgs {
  accountId: pulumi.Input<string>;
  scriptName: pulumi.Input<string>;
  versions: { versionId: pulumi.Input<string>; percentage: number }[];
  lastTag: string;
  connection?: ConnectionArgs | undefined;
}

/**
 * A Worker's newest deployment, which serves its traffic. The next update reverts rollbacks, partial rollouts and
 * uploads made outside the stack.
 */
export class Deployment extends OwnResource {
  declare readonly deploymentId: pulumi.Output<string>;

  constructor(name: string, args: DeploymentArgs, opts?: pulumi.CustomResourceOptions) {
    super("serverless:Deployment", name, { ...args, deploymentId: undefined }, opts);
  }
}
