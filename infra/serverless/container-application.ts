import * as pulumi from "@pulumi/pulumi";
import { ERRORS, StewardError } from "../../runtime/contract/errors.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import { type ResourceProvider, UNKNOWN } from "../shell/provider.ts";
import { type AccountAccess, accessTo, callAccount, rethrowAsUnknown } from "./account-api.ts";
import {
  type ApplicationSettings,
  APPLICATIONS,
  applyChanges,
  deleteApplication,
  findApplication,
  getApplication,
  type LiveApplication,
  maxInstancesLine,
} from "./container-api.ts";
import { applicationName, fittingName, LONGEST } from "./names.ts";
import { findNamespace, findOwner } from "./namespaces.ts";
import { say } from "../shell/connection.ts";

export interface ApplicationInputs extends ApplicationSettings {
  accountId: string;
  /** Unique in the account. */
  name: string;
  /** Worker whose class owns the containers. */
  scriptName: string;
  className: string;
}

export interface ApplicationOutputs extends ApplicationInputs {
  namespaceId: string;
}

/**
 * Provider of {@link ContainerApplication}. A replacement deletes the old application first, because a class can have
 * only one.
 */
export const containerApplicationProvider: ResourceProvider<ApplicationInputs, ApplicationOutputs> = {
  /** Rejects a new name that another application uses. Prints a note if the container limit decreases. */
  async check(olds, news) {
    const { maxInstances: before = 0 } = olds;
    if (before > news.maxInstances) say(maxInstancesLine(before, news.maxInstances));
    if (olds.name === news.name || news.name === UNKNOWN) return;
    const taken = await findConflict(news).catch(rethrowAsUnknown(`${news.name} exists`));
    if (taken !== undefined) throw taken;
  },

  /**
   * Replaces the application if its class has a new namespace, for example because somebody deleted the Worker by
   * hand.
   */
  async diff(_id, olds, news) {
    const known = news.scriptName !== UNKNOWN && news.className !== UNKNOWN;
    const namespaceId = known ? await findNamespace(accessTo(news.accountId), news) : olds.namespaceId;
    const replaces: string[] = (["accountId", "name", "className"] as const).filter(
      (key) => olds[key] !== news[key],
    );
    if (namespaceId !== olds.namespaceId) replaces.push("namespaceId");
    const updates = (["scriptName", "image", "instanceType", "maxInstances"] as const).filter(
      (key) => olds[key] !== news[key],
    );
    return { changes: replaces.length + updates.length > 0, replaces, deleteBeforeReplace: true };
  },

  /** Creates the application, or adopts one with the same namespace that an interrupted update left behind. */
  async create(inputs) {
    const access = accessTo(inputs.accountId);
    const namespaceId = await findNamespace(access, inputs);
    if (namespaceId === undefined) {
      throw new Error(`The Worker ${inputs.scriptName} has no Durable Object class ${inputs.className}.`);
    }
    const existing =
      (await findApplication(access, inputs.name)) ?? (await createApplication(inputs, namespaceId));
    if (existing.namespaceId !== namespaceId) throw await takenError(inputs, existing);
    await applyChanges(access, existing, inputs);
    return { id: existing.id, outs: { ...inputs, namespaceId } };
  },

  async read(id, props) {
    const found = await getApplication(accessTo(props.accountId), id);
    if (!found) return { id: "" };
    const { image, instanceType, maxInstances } = found;
    const inputs = { ...props, image, instanceType, maxInstances };
    return { id, inputs, props: inputs };
  },

  /**
   * Changes the live settings that differ from the new inputs. Ignores the old state, which may be wrong after an
   * interrupted rollout.
   */
  async update(id, olds, news) {
    const access = accessTo(news.accountId);
    const live = await getApplication(access, id);
    if (live === undefined)
      throw new StewardError("application_gone", `The container application ${news.name} is gone.`);
    await applyChanges(access, live, news);
    return { outs: { ...news, namespaceId: olds.namespaceId } };
  },

  async delete(id, { accountId }) {
    await deleteApplication(accessTo(accountId), id);
  },
};

/** Creates the application. After a failed request, looks for it by name, because it may have been created. */
async function createApplication(
  { accountId, name, image, instanceType, maxInstances }: ApplicationInputs,
  namespaceId: string,
): Promise<LiveApplication> {
  const access = accessTo(accountId);
  try {
    const { result } = await callAccount<{ id: string }>(access, APPLICATIONS, {
      method: "POST",
      body: {
        name,
        scheduling_policy: "default",
        instances: 0,
        max_instances: maxInstances,
        configuration: { image, instance_type: instanceType },
        durable_objects: { namespace_id: namespaceId },
      },
    });
    return { id: result.id, namespaceId, image, instanceType, maxInstances };
  } catch (error) {
    const found = await findApplication(access, name);
    if (found === undefined) throw error;
    return found;
  }
}

async function findConflict(inputs: ApplicationInputs): Promise<StewardError | undefined> {
  const access = accessTo(inputs.accountId);
  const existing = await findApplication(access, inputs.name);
  if (existing === undefined) return undefined;
  const own =
    existing.namespaceId !== undefined && (await findNamespace(access, inputs)) === existing.namespaceId;
  return own ? undefined : takenError(inputs, existing);
}

/** Returns the error for an existing application that belongs to another namespace or to none. */
async function takenError(
  { accountId, name, scriptName }: ApplicationInputs,
  { id, namespaceId }: LiveApplication,
): Promise<StewardError> {
  const access = accessTo(accountId);
  const other = await freeWorkerName(access, scriptName);
  const owner = namespaceId === undefined ? undefined : await findOwner(access, namespaceId);
  if (owner === undefined && namespaceId !== undefined) {
    const cause = `An application with the name ${name} already exists and is tied to a different Durable Object namespace (application_orphaned). ${ERRORS.application_orphaned.cause}`;
    return new StewardError("application_orphaned", cause, {
      fix: ({ script }) =>
        [
          `${script("orphans", "--remove", id)}, then deploy again`,
          `  or: ${script("migrate", "--worker-name", other)}, which also adds the next migration tag`,
        ].join("\n"),
    });
  }
  const whose =
    owner === undefined
      ? "to no Durable Object namespace"
      : `to a different Durable Object namespace, of the class ${owner.class} of the Worker ${owner.script}`;
  const cause = `An application with the name ${name} already exists and is tied ${whose}.`;
  return new StewardError("application_foreign", cause, {
    fix: ({ configSet }) => configSet("steward:workerName", other),
  });
}

async function freeWorkerName(access: AccountAccess, workerName: string): Promise<string> {
  for (let number = 2; ; number += 1) {
    const candidate = fittingName(workerName, LONGEST.worker, `-${number}`);
    if ((await findApplication(access, applicationName(candidate))) === undefined) return candidate;
  }
}

export type ContainerApplicationArgs = {
  [Key in keyof ApplicationInputs]: pulumi.Input<ApplicationInputs[Key]>;
} & { connection?: ConnectionArgs | undefined };

/** The container application of a Durable Object class. It must depend on the deployment that creates the class. */
export class ContainerApplication extends OwnResource {
  declare readonly namespaceId: pulumi.Output<string>;

  constructor(name: string, args: ContainerApplicationArgs, opts?: pulumi.CustomResourceOptions) {
    const inputs = { ...args, namespaceId: undefined };
    super("serverless:ContainerApplication", name, inputs, opts);
  }
}
