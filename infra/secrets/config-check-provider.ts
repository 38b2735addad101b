import type { dynamic } from "@pulumi/pulumi";

/** The dynamic provider of `ConfigCheck`: a preview asks it as well, and shows its words without a stack trace. */
export const configCheckProvider: dynamic.ResourceProvider<{ problem: string }, object> = {
  async check(_olds, { problem }) {
    // In a first preview the problem is not known, and stands here as a placeholder of the engine's.
    const failures = problem.includes("(") ? [{ property: "", reason: problem }] : [];
    return { inputs: { problem: "" }, failures };
  },

  async diff() {
    return { changes: false };
  },

  async create() {
    return { id: "config-check", outs: {} };
  },
};
