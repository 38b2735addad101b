import { Hono } from "hono";
import * as z from "zod";
import { timestamp, type AccountContext } from "../account/context.ts";
import { audienceTag, uuid } from "../account/ids.ts";
import type { AccessApplicationRecord, AccountState, PolicyRecord } from "../account/state.ts";
import { ApiError, invalid, notModelled, ok, page, readBody } from "../envelope.ts";

// Reject unknown selectors, because ignoring one would grant or deny access wrongly:
// https://developers.cloudflare.com/cloudflare-one/access-controls/policies/#selectors
const rule = z.union([
  z.strictObject({ everyone: z.strictObject({}) }),
  z.strictObject({ email: z.strictObject({ email: z.email() }) }),
  z.strictObject({ email_domain: z.strictObject({ domain: z.string().min(1) }) }),
]);

const policyBody = z.looseObject({
  name: z.string().min(1),
  decision: z.enum(["allow", "deny", "bypass"]),
  include: z.array(rule).min(1),
  exclude: z.array(rule).optional(),
  require: z.array(rule).optional(),
});

const applicationBody = z.looseObject({
  name: z.string().min(1),
  type: z.literal("self_hosted"),
  domain: z.string().optional(),
  destinations: z.array(z.looseObject({ type: z.string(), uri: z.string() })).optional(),
  policies: z.array(z.union([z.string(), z.looseObject({ id: z.string() })])).default([]),
});

/** https://developers.cloudflare.com/api/resources/zero_trust/subresources/access/subresources/policies/ */
export function accessPolicyRoutes(account: AccountContext): Hono {
  const { store } = account;
  const routes = new Hono();

  routes.post("/", async (context) => {
    const { name, decision, ...body } = await readBody(context, policyBody);
    const now = timestamp(account);
    const policy: PolicyRecord = { id: uuid(), name, decision, created_at: now, updated_at: now, body };
    await store.change((draft) => void draft.policies.push(policy));
    return ok(context, presentPolicy(store.state, policy));
  });

  routes.get("/", (context) => {
    return page(
      context,
      store.state.policies.map((policy) => presentPolicy(store.state, policy)),
    );
  });

  routes.get("/:policy", (context) => {
    return ok(context, presentPolicy(store.state, policyOf(store.state, context.req.param("policy"))));
  });

  routes.put("/:policy", async (context) => {
    const { name, decision, ...body } = await readBody(context, policyBody);
    const policy = await store.change((draft) => {
      const found = policyOf(draft, context.req.param("policy"));
      return Object.assign(found, { name, decision, body, updated_at: timestamp(account) });
    });
    return ok(context, presentPolicy(store.state, policy));
  });

  routes.delete("/:policy", async (context) => {
    const id = context.req.param("policy");
    await store.change((draft) => {
      policyOf(draft, id);
      draft.policies = draft.policies.filter((policy) => policy.id !== id);
    });
    return ok(context, { id });
  });

  return routes;
}

/** https://developers.cloudflare.com/api/resources/zero_trust/subresources/access/subresources/applications/ */
export function accessApplicationRoutes(account: AccountContext): Hono {
  const { store } = account;
  const routes = new Hono();

  routes.post("/", async (context) => {
    const body = await readBody(context, applicationBody);
    const application = await store.change((draft) => {
      const now = timestamp(account);
      const created = { id: uuid(), aud: audienceTag(), created_at: now, ...fields(account, draft, body) };
      draft.accessApplications.push(created);
      return created;
    });
    return ok(context, presentApplication(store.state, application));
  });

  routes.get("/", (context) => {
    return page(
      context,
      store.state.accessApplications.map((one) => presentApplication(store.state, one)),
    );
  });

  routes.get("/:application", (context) => {
    const found = applicationOf(store.state, context.req.param("application"));
    return ok(context, presentApplication(store.state, found));
  });

  routes.put("/:application", async (context) => {
    const body = await readBody(context, applicationBody);
    const application = await store.change((draft) => {
      const found = applicationOf(draft, context.req.param("application"));
      return Object.assign(found, fields(account, draft, body));
    });
    return ok(context, presentApplication(store.state, application));
  });

  routes.delete("/:application", async (context) => {
    const id = context.req.param("application");
    await store.change((draft) => {
      applicationOf(draft, id);
      draft.accessApplications = draft.accessApplications.filter((one) => one.id !== id);
    });
    return ok(context, { id });
  });

  return routes;
}

function fields(
  account: AccountContext,
  draft: AccountState,
  body: z.infer<typeof applicationBody>,
): Omit<AccessApplicationRecord, "id" | "aud" | "created_at"> {
  const { name, destinations, policies, ...rest } = body;
  const wanted = destinations ?? (body.domain ? [{ type: "public", uri: body.domain }] : []);
  if (wanted.length === 0) throw invalid("destinations: a self-hosted application needs one");
  if (wanted.some(({ type }) => type !== "public")) throw notModelled("private destinations");
  return {
    name,
    updated_at: timestamp(account),
    destinations: wanted.map(({ type, uri }) => ({ type, uri })),
    policies: policies.map((policy, index) => {
      const id = policyOf(draft, typeof policy === "string" ? policy : policy.id).id;
      const precedence = typeof policy === "string" ? undefined : policy["precedence"];
      return { id, precedence: typeof precedence === "number" ? precedence : index + 1 };
    }),
    body: rest,
  };
}

function policyOf(state: AccountState, id: string): PolicyRecord {
  const found = state.policies.find((policy) => policy.id === id);
  if (found) return found;
  throw new ApiError(404, 11021, `access.api.error.not_found: policy ${id}`);
}

function applicationOf(state: AccountState, id: string): AccessApplicationRecord {
  const found = state.accessApplications.find((one) => one.id === id);
  if (found) return found;
  throw new ApiError(404, 11021, `access.api.error.not_found: application ${id}`);
}

function presentPolicy(state: AccountState, policy: PolicyRecord): Record<string, unknown> {
  const users = state.accessApplications.filter(({ policies }) =>
    policies.some(({ id }) => id === policy.id),
  );
  return {
    exclude: [],
    require: [],
    session_duration: "24h",
    ...policy.body,
    id: policy.id,
    name: policy.name,
    decision: policy.decision,
    reusable: true,
    app_count: users.length,
    created_at: policy.created_at,
    updated_at: policy.updated_at,
  };
}

function presentApplication(
  state: AccountState,
  application: AccessApplicationRecord,
): Record<string, unknown> {
  return {
    session_duration: "24h",
    domain: application.destinations[0]?.uri,
    ...application.body,
    id: application.id,
    aud: application.aud,
    name: application.name,
    self_hosted_domains: application.destinations.map(({ uri }) => uri),
    destinations: application.destinations,
    policies: application.policies.flatMap(({ id, precedence }) => {
      const policy = state.policies.find((one) => one.id === id);
      return policy ? [{ ...presentPolicy(state, policy), precedence }] : [];
    }),
    created_at: application.created_at,
    updated_at: application.updated_at,
  };
}
