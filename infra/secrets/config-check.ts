import * as pulumi from "@pulumi/pulumi";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";

export interface ConfigCheckArgs {
  /** Reason why the gateway would not start with its current config after this deployment; empty if it would. */
  problem: pulumi.Input<string>;
}

/**
 * Provider of {@link ConfigCheck}. Its `check` also runs in previews, and reports the config's problem without a
 * stack trace.
 */
export const configCheckProvider: ResourceProvider<{ problem: string }, object> = {
  async check(_olds, { problem }) {
    // Every problem contains a space; the engine's placeholder for an unknown value does not.
    if (problem.includes(" ")) throw new Error(problem);
    return { problem: "" };
  },

  async diff() {
    return { changes: false };
  },

  async create() {
    return { id: "config-check", outs: {} };
  },
};

/**
 * Makes a preview or update fail if the gateway could not start with its config. Every deployed resource must depend
 * on this resource.
 */
export class ConfigCheck extends OwnResource {
  constructor(name: string, { problem }: ConfigCheckArgs, opts?: pulumi.CustomResourceOptions) {
    super("secrets:ConfigCheck", name, { problem }, opts);
  }
}
