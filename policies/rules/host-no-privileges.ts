import { givesChatsUsers } from "../reading/chat-users.ts";
import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, equals, list } from "../reading/values.ts";

/**
 * Forbids privileged mode and added capabilities, except the capabilities needed to run each chat as a separate user.
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
