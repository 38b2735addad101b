import { text, type Properties } from "../values.ts";
import type { ResourceDefinition } from "./definition.ts";
import { deleteById, readByGet } from "./rest.ts";
import { fromWire } from "./shape.ts";

const path = (inputs: Properties) => `/accounts/${text(inputs, "accountId")}/r2/buckets`;

/** An R2 bucket. Its id is its name. The API expects `storageClass` in camelCase. */
export const r2Bucket: ResourceDefinition = {
  type: "cloudflare:index/r2Bucket:R2Bucket",
  required: ["accountId", "name"],
  optional: [],
  replaceOn: "all",
  unanswered: ["accountId"],
  importable: true,
  async create(api, inputs) {
    const name = text(inputs, "name");
    return { id: name, live: fromWire(await api.post(path(inputs), { name, storageClass: "Standard" })) };
  },
  read: readByGet({ path }),
  delete: deleteById({ path }),
};
