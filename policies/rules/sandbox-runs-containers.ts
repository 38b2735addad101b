import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, list } from "../reading/values.ts";

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
    const created = list(fields(props["migrations"])["newSqliteClasses"]).includes(SANDBOX_CLASS);
    const named = (entries: unknown) =>
      list(entries).some((entry) => fields(entry)["className"] === SANDBOX_CLASS);
    const used = created || named(props["bindings"]);
    if (!used || named(props["containers"])) return [];
    return [
      `The class ${SANDBOX_CLASS} is not container-enabled. Add {className: "${SANDBOX_CLASS}"} to the version's containers.`,
    ];
  },
});
