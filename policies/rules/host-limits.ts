import { resourceRule } from "../rule.ts";
import { TYPES } from "../seen/types.ts";

/**
 * The container has a limit on its memory, and no swap without one.
 *
 * Severity: medium. Without it a leak takes the host along.
 * Fix: `memory` (`steward:memoryMiB`), and `memorySwap` of the same size.
 */
export const hostLimits = resourceRule({
  name: "host-limits",
  description: "The container's memory is limited.",
  severity: "medium",
  topics: ["host"],
  types: [TYPES.container],
  check({ props: { memory, memorySwap } }) {
    return [
      ...(memory === undefined || memory === 0
        ? ["The container's memory has no limit. Set memory: steward:memoryMiB."]
        : []),
      ...(memorySwap === undefined || memorySwap === -1
        ? ["The container's swap has no limit of its own. Set memorySwap to the memory's limit."]
        : []),
    ];
  },
});
