import * as pulumi from "@pulumi/pulumi";
import { configCheckProvider } from "./config-check-provider.ts";

/** Arguments of {@link ConfigCheck}. */
export interface ConfigCheckArgs {
  /** Why the config that runs would not start under what is about to be deployed; empty where it would. */
  problem: pulumi.Input<string>;
}

/** Stops a preview and an update that would stop the gateway. Let what is deployed depend on it. */
export class ConfigCheck extends pulumi.dynamic.Resource {
  constructor(name: string, { problem }: ConfigCheckArgs, opts?: pulumi.CustomResourceOptions) {
    super(configCheckProvider, name, { problem }, opts, "secrets", "ConfigCheck");
  }
}
