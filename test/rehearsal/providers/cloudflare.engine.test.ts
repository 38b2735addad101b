import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as cloudflare from "@pulumi/cloudflare";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cloudflareConfig,
  createTestStack,
  ENGINE_MS,
  stateText,
  UPDATE_MS,
  type TestStack,
} from "../../support/stack.ts";
import { startRecorder, type RecordedRequest, type Recorder } from "./recorder.ts";

const ACCOUNT = "ACCOUNT";
const TOKEN = "test-token-of-the-recording-server-0123456789";
const KEY = "the-model-key-that-nobody-may-read";

let code = "export default {}";
let operators = ["op@example.com"];
const file = { path: "" };

/** The program that the official provider was recorded with, without what this provider leaves out. */
async function program() {
  const accountId = ACCOUNT;
  const bucket = new cloudflare.R2Bucket("state", { accountId, name: "tr-steward" });
  const worker = new cloudflare.Worker("worker", {
    accountId,
    name: "steward",
    observability: { enabled: true },
    subdomain: { enabled: true },
  });
  const allow = new cloudflare.ZeroTrustAccessPolicy("operators", {
    accountId,
    name: "operators",
    decision: "allow",
    includes: operators.map((email) => ({ email: { email } })),
  });
  const bypass = new cloudflare.ZeroTrustAccessPolicy("public", {
    accountId,
    name: "public",
    decision: "bypass",
    includes: [{ everyone: {} }],
  });
  const application = new cloudflare.ZeroTrustAccessApplication("access", {
    accountId,
    name: "steward",
    type: "self_hosted",
    destinations: ["_admin*", "debug*"].map((path) => ({
      type: "public",
      uri: `steward.example.workers.dev/${path}`,
    })),
    policies: [{ id: allow.id, precedence: 1 }],
  });
  const module = { name: "index.js", contentType: "application/javascript+module" };
  const migrate = new cloudflare.WorkerVersion(
    "migrate-v1",
    {
      accountId,
      workerId: worker.id,
      compatibilityDate: "2026-07-01",
      mainModule: "index.js",
      modules: [{ ...module, contentBase64: Buffer.from(code).toString("base64") }],
      containers: [{ className: "Sandbox" }],
      migrations: { newTag: "v1", newSqliteClasses: ["Sandbox"] },
    },
    { ignoreChanges: ["*"] },
  );
  const current = new cloudflare.WorkerVersion(
    "current",
    {
      accountId,
      workerId: worker.id,
      compatibilityDate: "2026-07-01",
      compatibilityFlags: ["nodejs_compat"],
      mainModule: "index.js",
      modules: [{ ...module, contentFile: file.path }],
      containers: [{ className: "Sandbox" }],
      bindings: [
        { name: "STATE", type: "r2_bucket", bucketName: bucket.name },
        { name: "SANDBOX", type: "durable_object_namespace", className: "Sandbox" },
        { name: "EDGE_ACCESS_AUD", type: "plain_text", text: application.aud },
        { name: "ANTHROPIC_API_KEY", type: "secret_text", text: pulumi.secret(KEY) },
      ],
    },
    { dependsOn: [migrate] },
  );
  const deployment = new cloudflare.WorkersDeployment("deployment", {
    accountId,
    scriptName: worker.name,
    strategy: "percentage",
    versions: [{ percentage: 100, versionId: current.id }],
  });
  return {
    bypass: bypass.id,
    deployment: deployment.id,
    bindings: current.bindings,
    migrationTag: migrate.migrationTag,
  };
}

describe("the project's own cloudflare provider under the real engine", () => {
  let recorder: Recorder;
  let subject: TestStack;
  let official: RecordedRequest[];

  beforeAll(async () => {
    recorder = await startRecorder();
    subject = await createTestStack({
      program,
      config: cloudflareConfig(recorder.url, TOKEN),
    });
    file.path = join(subject.folder, "index.js");
    official = await officialTraffic();
  }, ENGINE_MS);

  afterAll(async () => {
    await subject.close();
    await recorder.close();
  });

  test(
    "creates with the very requests of the official provider",
    async () => {
      await writeCode("export default { version: 1 }");
      const update = await subject.stack.up();

      expect(update.summary.resourceChanges).toEqual({ create: 9 });
      expect(normal(recorder.take())).toEqual(normal(official.slice(0, 8)));
      expect(update.outputs["migrationTag"]?.value).toBe("v1");
    },
    UPDATE_MS,
  );

  test(
    "keeps what the API adds to a binding, and its own secrets secret",
    async () => {
      const outputs = await subject.stack.outputs();
      const state = await stateText(subject);

      expect(outputs["bindings"]?.value).toContainEqual({
        name: "SANDBOX",
        type: "durable_object_namespace",
        className: "Sandbox",
        namespaceId: "a-namespace",
      });
      expect([KEY, TOKEN].filter((secret) => state.includes(secret))).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "makes no request for an unchanged program",
    async () => {
      const update = await subject.stack.up();

      expect(update.summary.resourceChanges).toEqual({ same: 9 });
      expect(recorder.take()).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "replaces the current version and the deployment alone when the code changes",
    async () => {
      code = "export default { migrated: true }";
      await writeCode("export default { version: 2 }");
      const update = await subject.stack.up();

      expect(update.summary.resourceChanges).toEqual({ same: 7, replace: 2 });
      expect(normal(recorder.take())).toEqual(normal(official.slice(8, 10)));
    },
    UPDATE_MS,
  );

  test(
    "reads everything in a refresh, and finds no drift",
    async () => {
      const refresh = await subject.stack.refresh();

      expect(refresh.summary.resourceChanges).toEqual({ same: 9 });
      expect(normal(recorder.take())).toEqual(normal(official.slice(10, -5)));
      expect((await subject.stack.preview()).changeSummary).toEqual({ same: 9 });
    },
    UPDATE_MS,
  );

  test(
    "updates an Access policy in place, and finds the drift when someone changes it by hand",
    async () => {
      operators = ["op@example.com", "two@example.com"];
      const update = await subject.stack.up();
      const put = recorder.take();
      expect(update.summary.resourceChanges).toEqual({ same: 8, update: 1 });
      expect(put.map(({ method }) => method)).toEqual(["PUT"]);

      const policy = recorder.stored.get(put[0]?.path ?? "");
      Object.assign(policy ?? {}, { include: [{ email: { email: "someone@else.example" } }] });
      const refresh = await subject.stack.refresh();
      expect(refresh.summary.resourceChanges).toEqual({ same: 8, update: 1 });
      expect((await subject.stack.preview()).changeSummary).toEqual({ same: 8, update: 1 });
      recorder.take();
    },
    UPDATE_MS,
  );

  test(
    "deletes with the very requests of the official provider",
    async () => {
      await subject.stack.destroy();

      expect(normal(recorder.take())).toEqual(normal(official.slice(-5)));
      expect([...recorder.stored.keys()].filter((path) => !/versions|deployments/.test(path))).toEqual([]);
    },
    UPDATE_MS,
  );
});

function writeCode(text: string): Promise<void> {
  return writeFile(file.path, text);
}

async function officialTraffic(): Promise<RecordedRequest[]> {
  const text = await readFile(join(import.meta.dirname, "fixtures/official-traffic.jsonl"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line): RecordedRequest => JSON.parse(line));
}

/** Requests without what differs from run to run, in an order of their own: the engine works in parallel. */
function normal(requests: readonly RecordedRequest[]): string[] {
  const lines = requests.map(({ method, path, query, body }) =>
    JSON.stringify([method, path, query ?? "", sorted(body)])
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|\b[0-9a-f]{32}\b/g, "<id>")
      .replaceAll(/"content_base64":"[^"]*"/g, '"content_base64":"…"')
      .replaceAll(KEY, "(sent; removed here)"),
  );
  return lines.sort();
}

/** With sorted keys, and bindings by their name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(sorted);
    return items.every(
      (item) => typeof item === "object" && item !== null && "type" in item && "name" in item,
    )
      ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
