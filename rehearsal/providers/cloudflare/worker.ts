import { text, type Properties } from "../values.ts";
import { without, type ResourceDefinition } from "./definition.ts";
import { restOperations } from "./rest.ts";
import { bodyOf, withDefaults } from "./shape.ts";

const DEFAULTS: Properties = {
  logpush: false,
  tags: [],
  tailConsumers: [],
  observability: {
    enabled: false,
    headSamplingRate: 1,
    traces: { enabled: false, headSamplingRate: 1, persist: true },
  },
  subdomain: { enabled: false, previewsEnabled: false },
};

/** A Worker without code. `WorkerVersion` and `WorkersDeployment` add the code. */
export const worker: ResourceDefinition = {
  type: "cloudflare:index/worker:Worker",
  required: ["accountId", "name"],
  optional: ["logpush", "observability", "subdomain", "tags", "tailConsumers"],
  replaceOn: ["accountId"],
  defaults: DEFAULTS,
  unanswered: ["accountId"],
  importable: true,
  ...restOperations({
    path: (inputs) => `/accounts/${text(inputs, "accountId")}/workers/workers`,
    body: (inputs) => bodyOf(withDefaults(DEFAULTS, without(inputs, "accountId"))),
  }),
};
