import { givesChatsUsers } from "../reading/chat-users.ts";
import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, equals, list } from "../reading/values.ts";

/**
 * The container is not privileged, and is given no capability but those by which each chat gets a user of its own.
 *
 * Severity: critical. A privileged container has the host's devices and may do what root may.
 * Fix: neither `privileged` nor `capabilities.adds`; with `steward:tenancy` chat the component adds what it needs.
 */
export const hostNoPrivileges = resourceRule({
  name: "host-no-privileges",
  description: "The container has no privileges.",
  severity: "critical",
  topics: ["host"],
  types: [TYPES.container],
  check({ props }) {
    const added = givesChatsUsers(props) ? [] : list(fields(props.capabilities).adds).map(String);
    return [
      ...(equals(props.privileged, true) ? ["The container is privileged. Remove privileged."] : []),
      ...(added.length > 0 ? [`The container is given ${added.join(", ")}. Remove capabilities.adds.`] : []),
    ];
  },
});
