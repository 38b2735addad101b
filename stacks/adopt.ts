import * as pulumi from "@pulumi/pulumi";

export const GATEWAY = "steward";

/**
 * Returns options with aliases by which a gateway adopts the resources of older versions. These resources had the
 * stack as their parent, and no gateway prefix in their names. Children inherit the aliases.
 */
export function withAdoption(opts: pulumi.ComponentResourceOptions = {}): pulumi.ComponentResourceOptions {
  let gateway: pulumi.Resource | undefined;
  const adopt: pulumi.ResourceTransformation = ({ resource, name, type, props, opts: own }) => {
    // Pulumi transforms the gateway first, then its descendants.
    gateway ??= resource;
    if (own.parent !== gateway) return undefined;
    const former = { name: name.slice(GATEWAY.length + 1), parent: pulumi.rootStackResource };
    // This package's own resources have an alias with their former type.
    const types = (own.aliases ?? []).flatMap((alias) =>
      typeof alias === "object" && "type" in alias ? [alias] : [],
    );
    const aliases: pulumi.Alias[] =
      types.length > 0 ? types.map(({ type: old }) => Object.assign({ type: old }, former)) : [former];
    // Before 0.1.0 the bucket was a resource of the official provider, inside a component.
    if (type.endsWith(":StateBucket")) {
      const above = pulumi.createUrn(former.name, "steward:serverless:StateBucket");
      aliases.push({ name: former.name, type: "cloudflare:index/r2Bucket:R2Bucket", parent: above });
    }
    return { props, opts: { ...own, aliases: [...(own.aliases ?? []), ...aliases] } };
  };
  return { ...opts, transformations: [adopt] };
}
