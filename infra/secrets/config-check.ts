import * as pulumi from "@pulumi/pulumi";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";

/** Arguments of {@link ConfigCheck}. */
export interface ConfigCheckArgs {
  /** Why the config that runs would not start under what is about to be deployed; empty where it would. */
  problem: pulumi.Input<string>;
}

/** The provider of `ConfigCheck`: a preview asks it as well, and shows its words without a stack trace. */
export const configCheckProvider: ResourceProvider<{ problem: string }, object> = {
  async check(_olds, { problem }) {
    // A value that a first preview does not know yet comes as an id of the engine's, which is one word.
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

/** Stops a preview and an update that would stop the gateway. Let what is deployed depend on it. */
export class ConfigCheck extends OwnResource {
  constructor(name: string, { problem }: ConfigCheckArgs, opts?: pulumi.CustomResourceOptions) {
    super("secrets:ConfigCheck", name, { problem }, opts);
  }
}
