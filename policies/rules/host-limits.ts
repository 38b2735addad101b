import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { equals } from "../reading/values.ts";

/** Requires limits on memory and processors. Without them, a memory leak or busy loop takes down the whole host. */
export const hostLimits = resourceRule({
  name: "host-limits",
  description: "The container's memory and processors are limited.",
  severity: "medium",
  topics: ["host"],
  types: [TYPES.container],
  check({ props: { memory, memorySwap, cpus } }) {
    return [
      ...(memory === undefined || equals(memory, 0)
        ? ["The container's memory has no limit. Set memory: steward:memoryMiB."]
        : []),
      ...(memorySwap === undefined || equals(memorySwap, -1)
        ? ["The container's swap is not limited. Set memorySwap to the memory limit."]
        : []),
      ...(cpus === undefined
        ? ["The container may use every processor of the host. Set cpus: steward:cpus."]
        : []),
    ];
  },
});
