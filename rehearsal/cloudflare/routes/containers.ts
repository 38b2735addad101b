import { Hono } from "hono";
import * as z from "zod";
import { runDeployed, timestamp, type AccountContext } from "../account/context.ts";
import { uuid } from "../account/ids.ts";
import type { AccountState, ApplicationRecord } from "../account/state.ts";
import { ApiError, notModelled, ok, readBody } from "../envelope.ts";
import { activeRollout, createRollout, presentRollout, rolloutBody } from "../rollouts.ts";

/** Time, in milliseconds, until a deleted application disappears. Cloudflare also deletes asynchronously. */
const DELETION_MS = 400;

const configuration = z.looseObject({ image: z.string().min(1), instance_type: z.string().optional() });

const durableObjects = z.union([
  z.strictObject({ namespace_id: z.string() }),
  z.strictObject({ script_name: z.string(), class_name: z.string() }),
]);

const createBody = z.looseObject({
  name: z.string().min(1),
  scheduling_policy: z.enum(["default", "durable_object"]),
  instances: z.int().min(0).default(0),
  max_instances: z.int().min(0).optional(),
  configuration: configuration.optional(),
  durable_objects: durableObjects.optional(),
});

// Settings that can change without a rollout, according to the official SDK.
const editBody = z.strictObject({
  max_instances: z.int().min(0).optional(),
  constraints: z.record(z.string(), z.unknown()).optional(),
  observability: z.record(z.string(), z.unknown()).optional(),
  rollout_active_grace_period: z.int().min(0).optional(),
});

/** https://developers.cloudflare.com/api/resources/containers/subresources/applications/ */
export function containerRoutes(account: AccountContext): Hono {
  const { store } = account;
  const routes = new Hono();
  const shown = (application: ApplicationRecord): Record<string, unknown> =>
    present(store.state, application);

  routes.post("/", async (context) => {
    const body = await readBody(context, createBody);
    const application = await store.change(async (draft) => {
      const created = create(account, draft, body);
      await runDeployed(account, draft);
      return created;
    });
    return ok(context, shown(application));
  });

  routes.get("/", (context) => {
    const { name, image } = context.req.query();
    const found = living(account).filter((one) => {
      return (name === undefined || one.name === name) && (!image || one.configuration.image === image);
    });
    return ok(context, found.map(shown), { count: found.length });
  });

  routes.get("/:application", (context) => {
    return ok(context, shown(applicationOf(account, store.state, context.req.param("application"))));
  });

  routes.patch("/:application", async (context) => {
    const body = await readBody(context, editBody);
    const application = await store.change(async (draft) => {
      const found = applicationOf(account, draft, context.req.param("application"));
      found.settings = { ...found.settings, ...body };
      found.updated_at = timestamp(account);
      await runDeployed(account, draft);
      return found;
    });
    return ok(context, shown(application));
  });

  routes.delete("/:application", async (context) => {
    await store.change(async (draft) => {
      const found = applicationOf(account, draft, context.req.param("application"));
      found.goneAt ??= account.clock() + DELETION_MS;
      await runDeployed(account, draft);
    });
    return ok(context, { message: "The application is being deleted." });
  });

  routes.post("/:application/rollouts", async (context) => {
    const body = await readBody(context, rolloutBody);
    const id = context.req.param("application");
    applicationOf(account, store.state, id);
    return ok(context, presentRollout(await createRollout(account, id, body)));
  });

  routes.get("/:application/rollouts", (context) => {
    const found = applicationOf(account, store.state, context.req.param("application"));
    return ok(context, found.rollouts.toReversed().map(presentRollout));
  });

  routes.get("/:application/rollouts/:rollout", (context) => {
    const found = applicationOf(account, store.state, context.req.param("application"));
    const rollout = found.rollouts.find(({ id }) => id === context.req.param("rollout"));
    if (rollout) return ok(context, presentRollout(rollout));
    throw new ApiError(404, 1000, "ROLLOUT_NOT_FOUND: no such rollout");
  });

  return routes;
}

function create(
  account: AccountContext,
  draft: AccountState,
  body: z.infer<typeof createBody>,
): ApplicationRecord {
  const { name, scheduling_policy: policy, instances, configuration, durable_objects: owner } = body;
  if (policy !== "default") throw notModelled("the scheduling policy durable_object");
  if (owner === undefined) throw notModelled("an application without a Durable Object namespace");
  if (configuration === undefined) throw refused("VALIDATE_INPUT", "configuration: an image is needed");
  draft.applications = draft.applications.filter((one) => !isGone(account, one));
  const namespaceId = namespaceFor(draft, owner);
  const sameName = draft.applications.find((one) => one.name === name);
  if (sameName) {
    const other =
      sameName.namespaceId === namespaceId ? "" : " and is tied to a different durable object namespace";
    throw refused("VALIDATE_INPUT", `an application with name ${name} already exists${other}`);
  }
  if (draft.applications.some((one) => one.namespaceId === namespaceId)) {
    throw refused("DURABLE_OBJECT_ALREADY_HAS_APPLICATION", `namespace ${namespaceId} has an application`);
  }
  const now = timestamp(account);
  const application: ApplicationRecord = {
    id: uuid(),
    name,
    namespaceId,
    created_at: now,
    updated_at: now,
    version: 1,
    instances,
    configuration,
    settings: {
      ...(body.max_instances !== undefined && { max_instances: body.max_instances }),
      ...pick(body, ["constraints", "observability", "rollout_active_grace_period"]),
    },
    rollouts: [],
  };
  draft.applications.push(application);
  return application;
}

function namespaceFor(draft: AccountState, owner: z.infer<typeof durableObjects>): string {
  const namespace = draft.namespaces.find((one) => {
    return "namespace_id" in owner
      ? one.id === owner.namespace_id
      : one.script === owner.script_name && one.class === owner.class_name;
  });
  if (namespace === undefined) {
    throw refused("DURABLE_OBJECT_NOT_FOUND", `no namespace ${Object.values(owner).join("/")}`);
  }
  if (!namespace.containerEnabled) {
    throw refused("DURABLE_OBJECT_NOT_CONTAINER_ENABLED", `class ${namespace.class} has no container`);
  }
  return namespace.id;
}

function refused(code: string, message: string): ApiError {
  return new ApiError(400, 1000, `${code}: ${message}`);
}

function isGone(account: AccountContext, application: ApplicationRecord): boolean {
  return application.goneAt !== undefined && account.clock() >= application.goneAt;
}

function living(account: AccountContext): ApplicationRecord[] {
  return account.store.state.applications.filter((one) => !isGone(account, one));
}

function applicationOf(account: AccountContext, state: AccountState, id: string): ApplicationRecord {
  const found = state.applications.find((one) => one.id === id && !isGone(account, one));
  if (found) return found;
  throw new ApiError(404, 1000, "APPLICATION_NOT_FOUND: no such application");
}

function pick(body: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

function present(state: AccountState, application: ApplicationRecord): Record<string, unknown> {
  const active = activeRollout(application);
  return {
    ...application.settings,
    id: application.id,
    account_id: state.accountId,
    name: application.name,
    scheduling_policy: "default",
    instances: application.instances,
    version: application.version,
    configuration: application.configuration,
    durable_objects: { namespace_id: application.namespaceId },
    created_at: application.created_at,
    updated_at: application.updated_at,
    ...(active && { active_rollout_id: active.id }),
  };
}
