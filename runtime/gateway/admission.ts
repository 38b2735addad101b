import type { Admission, ChatAddress } from "../contract/message.ts";
import type { Config } from "../contract/config/index.ts";
import type { Capability, Role } from "../contract/config/rights.ts";

export interface Rights {
  /** Returns true if every role in this object's `roles` has the capability. */
  may(capability: Capability): boolean;
  roles: readonly Role[];
  /** Other chats that may receive messages. */
  sendsTo: readonly ChatAddress[];
}

function rolesOf(admission: Admission): readonly Role[] {
  switch (admission.by) {
    case "approval":
    case "config":
    case "browser":
      return [admission.grants];
    case "everyone":
      return ["guest"];
    // In a group, the sender's role does not count: the model also reads other members' messages and may obey them.
    case "group":
      return ["group"];
    case "schedule":
      return ["group", ...admission.madeBy];
    case "hook":
      return [admission.inChat ? "group" : "person"];
  }
}

/** Returns every admission's roles, and the rights that all admissions share. */
export function rightsOf(config: Config, admissions: readonly [Admission, ...Admission[]]): Rights {
  const roles = [...new Set(admissions.flatMap(rolesOf))];
  const may: Rights["may"] = (capability) =>
    roles.every((role) => config.agent.may[capability].includes(role));
  const [first, ...others] = admissions.map((admission) => targetsOf(config, admission));
  const sendsTo = may("sendElsewhere")
    ? (first ?? []).filter((to) => others.every((targets) => targets.some((one) => isSameChat(one, to))))
    : [];
  return { may, roles, sendsTo };
}

/**
 * Returns the chats, besides the one in which the bot answers, to which the bot may send messages. A list in the
 * admission replaces the config's list. For a hook that answers in a chat, the result is always empty.
 */
function targetsOf({ tools }: Config, admission: Admission): readonly ChatAddress[] {
  if ("sendElsewhere" in admission) return admission.sendElsewhere;
  return admission.by === "hook" && admission.inChat ? [] : tools.sendMessage.to;
}

export function isSameChat(one: ChatAddress, other: ChatAddress): boolean {
  return one.platform === other.platform && one.chat === other.chat;
}
