import { resourceRule } from "../rule.ts";
import { hasDigest, TYPES } from "../reading/resource.ts";
import { isInProduction, PRODUCTION_SCHEMA } from "../reading/production.ts";
import { text } from "../reading/values.ts";

/** Requires an image digest in production. Under a tag, somebody could push another, unreviewed image. */
export const imageDigest = resourceRule({
  name: "image-digest",
  description: "In production the container application's image is pinned by its digest.",
  severity: "high",
  topics: ["production", "supply"],
  configSchema: { properties: PRODUCTION_SCHEMA },
  types: [TYPES.containerApplication],
  check(resource, config) {
    const image = text(resource.props["image"]);
    if (!isInProduction(resource, config) || image === undefined || hasDigest(image)) return [];
    return [
      `The image ${image} is named by a tag. Set steward:image to <repository>@sha256:<digest>, as the push printed it.`,
    ];
  },
});
