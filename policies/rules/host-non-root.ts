import { givesChatsUsers } from "../reading/chat-users.ts";
import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { isUnknown, text } from "../reading/values.ts";

/**
 * Forbids root in the container, because root could use a kernel vulnerability to control the host. Exception: root
 * may start each chat's gateway as a separate user.
 */
export const hostNonRoot = resourceRule({
  name: "host-non-root",
  description: "The container does not run as root.",
  severity: "high",
  topics: ["host"],
  types: [TYPES.container],
  check({ props }) {
    const user = text(props.user) ?? "";
    if (isUnknown(props.user) || givesChatsUsers(props)) return [];
    if (!/^(root|0*)(:.*)?$/.test(user)) return [];
    return [
      user === ""
        ? "The container has no explicit user. Set user to steward."
        : `The container runs as ${user}. Set user to steward.`,
    ];
  },
});
