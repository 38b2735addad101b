import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, is, list } from "../reading/values.ts";

/**
 * A version that creates or binds the class says that it runs containers.
 *
 * Severity: critical. A class that was created without this can never get a container.
 * Fix: `containers: [{ className: "Sandbox" }]` on the version; for a class that exists, a new one.
 */
export const sandboxRunsContainers = resourceRule({
  name: "sandbox-runs-containers",
  description: `A version that creates or binds the class ${SANDBOX_CLASS} enables containers for it.`,
  severity: "critical",
  topics: ["migrations"],
  types: [TYPES.workerVersion],
  check({ props }) {
    const created = list(fields(props.migrations).newSqliteClasses).some((name) => is(name, SANDBOX_CLASS));
    const used =
      created || list(props.bindings).some((binding) => is(fields(binding).className, SANDBOX_CLASS));
    const runs = list(props.containers).some((container) => is(fields(container).className, SANDBOX_CLASS));
    if (!used || runs) return [];
    return [
      `The class ${SANDBOX_CLASS} is not container-enabled. Add {className: "${SANDBOX_CLASS}"} to the version's containers.`,
    ];
  },
});
