import { givesChatsUsers } from "../reading/chat-users.ts";
import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { text } from "../reading/values.ts";

/**
 * The container's user is named, and not root, unless it gives each chat a user of its own and has no other right.
 *
 * Severity: high. Root in the container is root on the host, one mistake of the kernel's away.
 * Fix: the image's own user, `steward`, on the container.
 */
export const hostNonRoot = resourceRule({
  name: "host-non-root",
  description: "The container does not run as root.",
  severity: "high",
  topics: ["host"],
  types: [TYPES.container],
  check({ props }) {
    const user = text(props.user) ?? "";
    if (givesChatsUsers(props)) return [];
    if (!/^(root|0*)(:.*)?$/.test(user)) return [];
    return [
      user === ""
        ? "The container's user is left to its image. Set user to steward."
        : `The container runs as ${user}. Set user to steward.`,
    ];
  },
});
