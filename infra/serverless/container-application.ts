import * as pulumi from "@pulumi/pulumi";
import { containerApplicationProvider, type ApplicationInputs } from "./container-application-provider.ts";

/** Arguments of {@link ContainerApplication}. */
export type ContainerApplicationArgs = {
  [Key in keyof ApplicationInputs]: pulumi.Input<ApplicationInputs[Key]>;
};

/**
 * The container application that belongs to a Durable Object class. No provider has this resource,
 * so it is a dynamic one over the official client, with the token and address of `cloudflare:*`.
 * The class has to exist: depend on the deployment that created it.
 */
export class ContainerApplication extends pulumi.dynamic.Resource {
  /** The Durable Object namespace that the application serves. */
  declare readonly namespaceId: pulumi.Output<string>;

  constructor(name: string, args: ContainerApplicationArgs, opts?: pulumi.CustomResourceOptions) {
    const inputs = { ...args, namespaceId: undefined };
    super(containerApplicationProvider, name, inputs, opts, "serverless", "ContainerApplication");
  }
}
