import { text, type Properties } from "../values.ts";
import { idOf, without, type ResourceDefinition } from "./definition.ts";
import { deleteById, readByGet } from "./rest.ts";
import { bodyOf, fromWire } from "./shape.ts";

const path = (inputs: Properties) => `/accounts/${text(inputs, "accountId")}/workers/domains`;

export const workersCustomDomain: ResourceDefinition = {
  type: "cloudflare:index/workersCustomDomain:WorkersCustomDomain",
  required: ["accountId", "hostname", "service"],
  optional: ["zoneId", "zoneName"],
  replaceOn: "all",
  unanswered: ["accountId"],
  async create(api, inputs) {
    const live = fromWire(await api.put(path(inputs), bodyOf(without(inputs, "accountId"))));
    return { id: idOf(live), live };
  },
  read: readByGet({ path }),
  delete: deleteById({ path }),
};
