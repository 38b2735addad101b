import * as z from "zod";
import { runDeployed, timestamp, type AccountContext } from "./account/context.ts";
import { uuid } from "./account/ids.ts";
import type { ApplicationRecord, RolloutRecord } from "./account/state.ts";

/** The body of POST `…/rollouts`: RolloutCreateParams of the official SDK. */
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
 * Starts a rollout. A `full_auto` one goes on by itself: the running containers are asked to stop and the next
 * request starts the target's image: https://developers.cloudflare.com/containers/platform-details/rollouts/
 * A `full_manual` one stays pending; advancing it is not modelled.
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
  const { store, runner } = context;
  await runner.stopContainers(applicationIn(store.state.applications, applicationId).namespaceId);
  await store.change(async (draft) => {
    const application = applicationIn(draft.applications, applicationId);
    const rollout = application.rollouts.find(({ id }) => id === rolloutId);
    if (rollout === undefined) return;
    application.configuration = { ...application.configuration, ...rollout.target_configuration };
    application.version = rollout.target_version;
    application.updated_at = timestamp(context);
    rollout.last_updated_at = application.updated_at;
    rollout.status = "completed";
    await runDeployed(context, draft);
  });
}

function applicationIn(applications: readonly ApplicationRecord[], id: string): ApplicationRecord {
  const found = applications.find((one) => one.id === id);
  if (found === undefined) throw new Error(`application ${id} is gone`);
  return found;
}
