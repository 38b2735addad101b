import * as z from "zod";
import { runDeployed, timestamp, type AccountContext } from "./account/context.ts";
import { uuid } from "./account/ids.ts";
import type { ApplicationRecord, RolloutRecord } from "./account/state.ts";

/** RolloutCreateParams of the official SDK. */
export const rolloutBody = z.looseObject({
  description: z.string().default(""),
  strategy: z.enum(["rolling", "new_instances"]),
  kind: z.enum(["full_auto", "full_manual"]).default("full_auto"),
  target_configuration: z.looseObject({
    image: z.string().min(1).optional(),
    instance_type: z.string().optional(),
  }),
});

/**
 * Starts a rollout: https://developers.cloudflare.com/containers/platform-details/rollouts/
 *
 * A `full_auto` rollout stops running containers, and the next request starts the target image. A `full_manual` one
 * stays pending.
 */
export async function createRollout(
  context: AccountContext,
  applicationId: string,
  body: z.infer<typeof rolloutBody>,
): Promise<RolloutRecord> {
  const { store } = context;
  const rollout = await store.change((draft) => {
    const application = applicationIn(draft.applications, applicationId);
    const now = timestamp(context);
    const created: RolloutRecord = {
      id: uuid(),
      created_at: now,
      last_updated_at: now,
      description: body.description,
      strategy: body.strategy,
      kind: body.kind,
      status: body.kind === "full_auto" ? "progressing" : "pending",
      current_configuration: application.configuration,
      target_configuration: { ...application.configuration, ...body.target_configuration },
      current_version: application.version,
      target_version: application.version + 1,
    };
    // Only one rollout can be active. The official SDK calls a superseded one "replaced".
    const former = activeRollout(application);
    if (former) former.status = "replaced";
    application.rollouts.push(created);
    return created;
  });
  if (rollout.kind === "full_auto") {
    progress(context, applicationId, rollout.id).catch((error: unknown) => {
      context.log("a rollout failed", { application: applicationId, error: String(error) });
    });
  }
  return rollout;
}

async function progress(context: AccountContext, applicationId: string, rolloutId: string): Promise<void> {
  const { store, runner, faults } = context;
  await faults.rolloutsHeld;
  const { namespaceId, rollouts } = applicationIn(store.state.applications, applicationId);
  const { target_configuration: target } = rollouts.find(({ id }) => id === rolloutId) ?? {};
  const image = String(target?.["image"]);
  const reason = faults.rollouts.get(image) ?? (await runner.imageProblem(image));
  if (reason === undefined) await runner.stopContainers(namespaceId);
  await store.change(async (draft) => {
    const application = applicationIn(draft.applications, applicationId);
    const rollout = application.rollouts.find(({ id }) => id === rolloutId);
    // A newer rollout may have replaced this one.
    if (rollout?.status !== "progressing") return;
    rollout.last_updated_at = timestamp(context);
    if (reason !== undefined) {
      Object.assign(rollout, { status: "reverted", reason });
      return;
    }
    application.configuration = { ...application.configuration, ...rollout.target_configuration };
    application.version = rollout.target_version;
    application.updated_at = rollout.last_updated_at;
    rollout.status = "completed";
    await runDeployed(context, draft);
  });
}

export function activeRollout({ rollouts }: ApplicationRecord): RolloutRecord | undefined {
  return rollouts.findLast(({ status }) => status === "pending" || status === "progressing");
}

/** Returns a rollout as the official SDK's RolloutCreateResponse, with one container instance. */
export function presentRollout({ reason, ...rollout }: RolloutRecord): Record<string, unknown> {
  const event = { name: "ImagePullError", type: "Error", message: reason, time: rollout.last_updated_at };
  const updated = rollout.status === "completed" ? 1 : 0;
  return {
    ...rollout,
    progress: { current_step: updated, total_steps: 1, updated_instances: updated, total_instances: 1 },
    health: {
      instances: { active: 1, assigned: 0 },
      errors: reason === undefined ? [] : [{ instance_id: rollout.id, event }],
    },
  };
}

function applicationIn(applications: readonly ApplicationRecord[], id: string): ApplicationRecord {
  const found = applications.find((one) => one.id === id);
  if (found === undefined) throw new Error(`application ${id} is gone`);
  return found;
}
