import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isProperties, text, type Properties, type Value } from "../values.ts";
import { idOf, without, type ResourceDefinition } from "./definition.ts";
import { bodyOf, fromWire, withDefaults } from "./shape.ts";

const path = (inputs: Properties) =>
  `/accounts/${text(inputs, "accountId")}/workers/workers/${text(inputs, "workerId")}/versions`;

/**
 * A version of a Worker. Any changed input replaces it. Deletion sends no request, because Cloudflare deletes versions
 * with their Worker.
 */
export const workerVersion: ResourceDefinition = {
  type: "cloudflare:index/workerVersion:WorkerVersion",
  required: ["accountId", "workerId"],
  optional: [
    "bindings",
    "compatibilityDate",
    "compatibilityFlags",
    "containers",
    "deploy",
    "mainModule",
    "migrations",
    "modules",
    "usageModel",
  ],
  replaceOn: "all",
  // The API never returns a secret binding's value (`text`).
  unanswered: ["accountId", "workerId", "text", "migrations", "deploy", "contentFile", "contentSha256"],
  /** Adds a hash of each file, so that a changed file counts as a changed input. */
  async prepare(inputs) {
    const { modules } = inputs;
    return Array.isArray(modules) ? { ...inputs, modules: await Promise.all(modules.map(withHash)) } : inputs;
  },
  async create(api, inputs) {
    const { modules = [] } = inputs;
    const given = without(inputs, "accountId", "workerId", "deploy", "modules");
    const sent = Array.isArray(modules) ? await Promise.all(modules.map(withContent)) : [];
    const body = bodyOf(withDefaults({ usageModel: "standard" }, { ...given, modules: sent }));
    const query = inputs["deploy"] === true ? { deploy: "true" } : {};
    const live = fromWire(await api.post(path(inputs), body, query));
    return { id: idOf(live), live };
  },
  async read(api, id, inputs) {
    const live = await api.get(`${path(inputs)}/${id}`, { include: "modules" });
    return live === undefined ? undefined : fromWire(live);
  },
};

async function withHash(item: Value): Promise<Value> {
  if (!isProperties(item) || typeof item["contentFile"] !== "string") return item;
  const content = await readFile(item["contentFile"]);
  return { ...item, contentSha256: createHash("sha256").update(content).digest("hex") };
}

async function withContent(item: Value): Promise<Value> {
  if (!isProperties(item) || typeof item["contentFile"] !== "string") return item;
  const content = await readFile(item["contentFile"]);
  const rest = without(item, "contentFile", "contentSha256");
  return { ...rest, contentBase64: content.toString("base64") };
}
