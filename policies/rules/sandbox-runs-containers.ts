import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { resourceRule } from "../rule.ts";
import { isOfType, TYPES } from "../reading/resource.ts";
import { fields, equals, isUnknown, list } from "../reading/values.ts";

/**
 * Requires that the sandbox's class supports containers from the start, because support cannot be added to an
 * existing class.
 */
export const sandboxRunsContainers = resourceRule({
  name: "sandbox-runs-containers",
  description: `Migrations and versions that use the class ${SANDBOX_CLASS} enable containers for it.`,
  severity: "critical",
  topics: ["migrations"],
  types: [TYPES.workerVersion, TYPES.migrations],
  check(resource) {
    if (!isOfType(resource, TYPES.workerVersion)) {
      const { containerClass } = resource.props;
      if (isUnknown(containerClass) || containerClass === SANDBOX_CLASS) return [];
      return [
        `The class ${SANDBOX_CLASS} is not container-enabled. Set containerClass of the migrations to it.`,
      ];
    }
    const { bindings, containers } = resource.props;
    const used = list(bindings).some((binding) => equals(fields(binding).className, SANDBOX_CLASS));
    const runs = list(containers).some((container) => equals(fields(container).className, SANDBOX_CLASS));
    if (!used || runs || isUnknown(containers)) return [];
    return [
      `The class ${SANDBOX_CLASS} is not container-enabled. Add {className: "${SANDBOX_CLASS}"} to the version's containers.`,
    ];
  },
});
