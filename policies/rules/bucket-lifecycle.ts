import { stackRule } from "../rule.ts";
import { resourcesOfType, TYPES } from "../reading/resource.ts";
import { fields, equals, isUnknown, list } from "../reading/values.ts";

/** Recommends explicit lifecycle rules for a bucket, because R2's default rule deletes no objects. */
export const bucketLifecycle = stackRule({
  name: "bucket-lifecycle",
  description: "The state bucket has a lifecycle.",
  severity: "low",
  topics: ["state"],
  level: "advisory",
  check(resources) {
    const lifecycles = resourcesOfType(resources, TYPES.bucketLifecycle).filter(
      ({ props: { rules } }) =>
        isUnknown(rules) || list(rules).some((rule) => equals(fields(rule).enabled, true)),
    );
    return resourcesOfType(resources, TYPES.bucket).flatMap(({ urn, props: { name } }) => {
      const isFor = (bucketName: unknown): boolean => isUnknown(bucketName) || bucketName === name;
      if (isUnknown(name) || lifecycles.some(({ props }) => isFor(props.bucketName))) return [];
      const message = `The bucket ${String(name)} has no lifecycle. Add an R2BucketLifecycle with an enabled rule for it.`;
      return [{ urn, message }];
    });
  },
});
