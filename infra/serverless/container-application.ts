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

/** Dependencies of a container application. */
export interface ApplicationInputs extends ApplicationSettings {
  accountId: string;
  /** Name of the application, unique in the account. */
  name: string;
  /** The Worker whose class owns the containers. */
  scriptName: string;
  className: string;
}

/** Inputs, and the namespace that the application is tied to. */
export interface ApplicationOutputs extends ApplicationInputs {
  namespaceId: string;
}

/** See {@link ApplicationInputs}. One application per class, so a replacement deletes first. */
export const containerApplicationProvider: ResourceProvider<ApplicationInputs, ApplicationOutputs> = {
  /**
   * Finds an application of that name which is not this stack's, already in the preview. Asks nothing if the name is not
   * new. Says how many containers may run if they become fewer.
   */
  async check(olds, news) {
    const { maxInstances: before = 0 } = olds;
    if (before > news.maxInstances) say(maxInstancesLine(before, news.maxInstances));
    if (olds.name === news.name || news.name === UNKNOWN) return;
    const taken = await whyTaken(news).catch(rethrowAsUnknown(`${news.name} exists`));
    if (taken !== undefined) throw taken;
  },

  /**
   * An application stays tied to the namespace that it was created for. If somebody deleted the Worker by hand, the
   * class has a new namespace and the stack's own application is an orphan. The replacement that this asks for is then
   * checked like a new application, and refused with the ways out.
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

  /** Takes over an application that is tied to the same namespace: an interrupted update created it. */
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

  /** Starts from what is live rather than from the state: a rollout may have been interrupted. */
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

/** Creates the application. A request whose answer was lost is repeated, so a refusal may mean that it exists. */
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

/** Returns why an application of that name is not this stack's; `undefined` if it is, or if there is none. */
async function whyTaken(inputs: ApplicationInputs): Promise<StewardError | undefined> {
  const access = accessTo(inputs.accountId);
  const existing = await findApplication(access, inputs.name);
  if (existing === undefined) return undefined;
  const own =
    existing.namespaceId !== undefined && (await findNamespace(access, inputs)) === existing.namespaceId;
  return own ? undefined : takenError(inputs, existing);
}

/** Returns the error for an application that is tied to another namespace or to none, with commands that resolve it. */
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

/** Returns a Worker's name similar to the given one for which the name of the application is free. */
async function freeWorkerName(access: AccountAccess, workerName: string): Promise<string> {
  for (let number = 2; ; number += 1) {
    const candidate = fittingName(workerName, LONGEST.worker, `-${number}`);
    if ((await findApplication(access, applicationName(candidate))) === undefined) return candidate;
  }
}

/** Arguments of {@link ContainerApplication}. */
export type ContainerApplicationArgs = {
  [Key in keyof ApplicationInputs]: pulumi.Input<ApplicationInputs[Key]>;
} & { connection?: ConnectionArgs | undefined };

/**
 * The container application that belongs to a Durable Object class. The class has to exist: depend on the deployment
 * that created it.
 */
export class ContainerApplication extends OwnResource {
  /** The Durable Object namespace that the application serves. */
  declare readonly namespaceId: pulumi.Output<string>;

  constructor(name: string, args: ContainerApplicationArgs, opts?: pulumi.CustomResourceOptions) {
    const inputs = { ...args, namespaceId: undefined };
    super("serverless:ContainerApplication", name, inputs, opts);
  }
}
