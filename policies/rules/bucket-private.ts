import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { equals, isUnknown, text } from "../reading/values.ts";

/** Forbids public access to the state bucket, which contains the config file and conversations. */
export const bucketPrivate = resourceRule({
  name: "bucket-private",
  description: "The state bucket is not reachable from the internet.",
  severity: "critical",
  topics: ["state"],
  types: [TYPES.bucketDomain, TYPES.bucketManagedDomain],
  check({ props }) {
    const { bucketName, domain, enabled } = props;
    if (isUnknown(enabled) || equals(enabled, false)) return [];
    const [bucket, where] = [text(bucketName) ?? "of the state", text(domain) ?? "its r2.dev address"];
    return [`The bucket ${bucket} is public at ${where}. Remove the domain or set enabled to false.`];
  },
});
