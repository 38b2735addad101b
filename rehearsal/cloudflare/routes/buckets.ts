import { Hono } from "hono";
import * as z from "zod";
import { timestamp, type AccountContext } from "../account/context.ts";
import { bucketOf } from "../account/lookup.ts";
import type { AccountState, BucketRecord, Settings } from "../account/state.ts";
import { ApiError, ok, readBody } from "../envelope.ts";

// https://developers.cloudflare.com/r2/buckets/create-buckets/
const createBody = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{1,61})[a-z0-9]$/, "3 to 63 of a-z, 0-9 and -, no - at either end"),
  storageClass: z.enum(["Standard", "InfrequentAccess"]).default("Standard"),
  locationHint: z.enum(["apac", "eeur", "enam", "weur", "wnam", "oc"]).default("weur"),
});

const lifecycleBody = z.object({
  rules: z
    .array(
      z.looseObject({ id: z.string(), enabled: z.boolean(), conditions: z.object({ prefix: z.string() }) }),
    )
    .default([]),
});

// Lifecycle rule of every new bucket: https://developers.cloudflare.com/r2/buckets/object-lifecycles/
const DEFAULT_RULE: Settings = {
  id: "Default Multipart Abort Rule",
  enabled: true,
  conditions: { prefix: "" },
  abortMultipartUploadsTransition: { condition: { type: "Age", maxAge: 604800 } },
};

/**
 * https://developers.cloudflare.com/api/resources/r2/subresources/buckets/
 * Error codes: https://developers.cloudflare.com/r2/api/error-codes/
 */
export function bucketRoutes(account: AccountContext): Hono {
  const { store, runner } = account;
  const routes = new Hono();

  routes.post("/", async (context) => {
    const body = await readBody(context, createBody);
    const bucket = await store.change((draft) => create(account, draft, body));
    return ok(context, present(bucket));
  });

  routes.get("/", (context) => {
    const part = context.req.query("name_contains") ?? "";
    const found = store.state.buckets.filter(({ name }) => name.includes(part));
    return ok(context, { buckets: found.map(present) });
  });

  routes.get("/:bucket", (context) => {
    return ok(context, present(bucketOf(store.state, context.req.param("bucket"))));
  });

  routes.delete("/:bucket", async (context) => {
    const name = context.req.param("bucket");
    await store.change(async (draft) => {
      const bucket = bucketOf(draft, name);
      if (!(await runner.bucketIsEmpty(name))) {
        throw new ApiError(409, 10008, "The bucket you tried to delete is not empty.");
      }
      draft.buckets = draft.buckets.filter((one) => one !== bucket);
    });
    return ok(context, {});
  });

  routes.put("/:bucket/lifecycle", async (context) => {
    const { rules } = await readBody(context, lifecycleBody);
    await store.change((draft) => {
      bucketOf(draft, context.req.param("bucket")).lifecycle = rules;
    });
    return ok(context, {});
  });

  routes.get("/:bucket/lifecycle", (context) => {
    const { lifecycle } = bucketOf(store.state, context.req.param("bucket"));
    return ok(context, { rules: lifecycle ?? [DEFAULT_RULE] });
  });

  return routes;
}

function create(
  account: AccountContext,
  draft: AccountState,
  body: z.infer<typeof createBody>,
): BucketRecord {
  if (draft.buckets.some(({ name }) => name === body.name)) {
    throw new ApiError(409, 10004, "The bucket you tried to create already exists, and you own it.");
  }
  const bucket: BucketRecord = {
    name: body.name,
    creation_date: timestamp(account),
    storage_class: body.storageClass,
    location: body.locationHint,
  };
  draft.buckets.push(bucket);
  return bucket;
}

function present(bucket: BucketRecord): Record<string, unknown> {
  const { lifecycle: _, ...shown } = bucket;
  return { ...shown, jurisdiction: "default" };
}
