import { afterAll, beforeAll, expect, test } from "vitest";
import { ACCOUNT, ask, BUNDLE, MIGRATE_BUNDLE, startStage, TOKEN, type Stage } from "./support.ts";

/**
 * What the official Pulumi provider for Cloudflare sent while a stack like this project's was created, read again
 * and destroyed, with the ids that the first answers gave put in where it names them.
 */
let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(async () => {
  await stage.close();
});

interface Answer {
  status: number;
  body: { success: boolean; errors: unknown[]; messages: unknown[]; result: Record<string, unknown> };
}

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${stage.cloudflare.url}/accounts/${ACCOUNT}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

async function result(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await call(method, path, body);
  expect(answer, `${method} ${path}`).toMatchObject({ status: 200, body: { success: true, errors: [] } });
  return answer.body.result;
}

const code = (source: string): object[] => [
  {
    content_base64: Buffer.from(source).toString("base64"),
    content_type: "application/javascript+module",
    name: "index.js",
  },
];

test("the provider's create, refresh, code change and destroy pass in their recorded order", async () => {
  await result("POST", "/r2/buckets", { name: "tr-steward", storageClass: "Standard" });
  const worker = await result("POST", "/workers/workers", {
    logpush: false,
    name: "steward",
    observability: {
      enabled: true,
      head_sampling_rate: 1,
      traces: { enabled: false, head_sampling_rate: 1, persist: true },
    },
    subdomain: { enabled: true, previews_enabled: false },
    tags: [],
    tail_consumers: [],
  });
  const operators = await result("POST", "/access/policies", {
    decision: "allow",
    include: [{ email: { email: "op@example.com" } }],
    name: "operators",
    session_duration: "24h",
  });
  const open = await result("POST", "/access/policies", {
    decision: "bypass",
    include: [{ everyone: {} }],
    name: "public",
    session_duration: "24h",
  });
  await result("PUT", "/r2/buckets/tr-steward/lifecycle", {
    rules: [
      {
        conditions: { prefix: "steward/generations/" },
        deleteObjectsTransition: { condition: { maxAge: 2592000, type: "Age" } },
        enabled: true,
        id: "old",
      },
    ],
  });
  const migration = await result("POST", `/workers/workers/${worker["id"]}/versions`, {
    compatibility_date: "2026-07-01",
    containers: [{ class_name: "Sandbox" }],
    main_module: "index.js",
    migrations: { new_sqlite_classes: ["Sandbox"], new_tag: "v1" },
    modules: code(MIGRATE_BUNDLE),
    usage_model: "standard",
  });
  const app = await result("POST", "/access/apps", {
    app_launcher_visible: true,
    destinations: [
      { type: "public", uri: "steward.example.workers.dev/_admin*" },
      { type: "public", uri: "steward.example.workers.dev/debug*" },
    ],
    http_only_cookie_attribute: true,
    name: "steward",
    policies: [{ id: operators["id"], precedence: 1 }],
    session_duration: "24h",
    type: "self_hosted",
  });
  expect(app["aud"]).toMatch(/^[0-9a-f]{64}$/);

  const current = {
    bindings: [
      { name: "ANTHROPIC_API_KEY", type: "secret_text", text: "sk-recorded" },
      { name: "EDGE_ACCESS_AUD", text: app["aud"], type: "plain_text" },
      { class_name: "Sandbox", name: "SANDBOX", type: "durable_object_namespace" },
      { bucket_name: "tr-steward", name: "STATE", type: "r2_bucket" },
    ],
    compatibility_date: "2026-07-01",
    compatibility_flags: ["nodejs_compat"],
    containers: [{ class_name: "Sandbox" }],
    main_module: "index.js",
    modules: code(BUNDLE),
    usage_model: "standard",
  };
  const versions = `/workers/workers/${worker["id"]}/versions`;
  // The provider of that time sent no `deploy`: the class has no namespace until the migrating version is deployed.
  const early = await call("POST", versions, current);
  expect(early).toMatchObject({ status: 400, body: { success: false, errors: [{ code: 10061 }] } });
  const deploy = (version: unknown): Promise<Record<string, unknown>> =>
    result("POST", "/workers/scripts/steward/deployments", {
      strategy: "percentage",
      versions: [{ percentage: 100, version_id: version }],
    });
  await deploy(migration["id"]);
  const version = await result("POST", versions, current);
  await deploy(version["id"]);
  expect(await (await ask(stage.runner, "/")).text()).toBe("version one");
  await result("PUT", "/workers/scripts/steward/schedules", [{ cron: "*/5 * * * *" }]);

  const changed = await result("POST", versions, {
    ...current,
    modules: code(BUNDLE.replace("version one", "version two")),
  });
  const deployment = await deploy(changed["id"]);
  expect(await (await ask(stage.runner, "/")).text()).toBe("version two");

  // In an update it sends null for what the account has and the program does not set.
  const { decision, include, name, session_duration: duration } = operators;
  const kept = { decision, include, name, session_duration: duration };
  await result("PUT", `/access/policies/${operators["id"]}`, { ...kept, exclude: null, require: null });
  await result("PUT", `/access/apps/${app["id"]}`, {
    app_launcher_visible: true,
    cors_headers: null,
    destinations: [{ type: "public", uri: "steward.example.workers.dev/_admin*", vnet_id: null }],
    name: "steward",
    policies: [{ id: operators["id"], precedence: null }],
    tags: null,
    type: "self_hosted",
  });
  await result("PUT", `/workers/workers/${worker["id"]}`, {
    name: "steward",
    observability: null,
    subdomain: { enabled: true, previews_enabled: null },
    tail_consumers: null,
  });

  for (const path of [
    "/r2/buckets/tr-steward/lifecycle",
    "/r2/buckets/tr-steward",
    `${versions}/${migration["id"]}?include=modules`,
    `/access/apps/${app["id"]}`,
    `/access/policies/${operators["id"]}`,
    `/workers/workers/${worker["id"]}`,
    `/access/policies/${open["id"]}`,
    `${versions}/${changed["id"]}?include=modules`,
    "/workers/scripts/steward/schedules",
    `/workers/scripts/steward/deployments/${deployment["id"]}`,
  ]) {
    expect(JSON.stringify(await result("GET", path))).not.toContain("sk-recorded");
  }

  await result("DELETE", `/access/apps/${app["id"]}`);
  await result("DELETE", "/r2/buckets/tr-steward");
  expect((await call("DELETE", `/workers/workers/${worker["id"]}`)).status).toBe(200);
  await result("DELETE", `/access/policies/${open["id"]}`);
  await result("DELETE", `/access/policies/${operators["id"]}`);
  const { state } = stage.cloudflare.account;
  for (const left of [
    state.workers,
    state.versions,
    state.buckets,
    state.accessApplications,
    state.policies,
  ]) {
    expect(left).toEqual([]);
  }
});
