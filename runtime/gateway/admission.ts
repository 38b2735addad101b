import type { Admission, ChatAddress } from "../contract/message.ts";
import type { Config } from "../contract/config/index.ts";
import type { Capability, Role } from "../contract/config/rights.ts";

/** Rights of an answer, or of a command. */
export interface Rights {
  /** Returns true if a capability is granted to everyone who is answered. */
  may(capability: Capability): boolean;
  /** The roles that have to be granted a capability. */
  roles: readonly Role[];
  /** Other chats that messages may be sent to. */
  sendsTo: readonly ChatAddress[];
}

/** Returns the roles of an admission. All of them have to be granted a capability. */
function rolesOf(admission: Admission): readonly Role[] {
  switch (admission.by) {
    case "approval":
    case "config":
    case "browser":
      return [admission.grants];
    case "everyone":
      return ["guest"];
    // Others' words stand before the model too, and it follows what it reads.
    case "group":
      return ["group"];
    case "schedule":
      return ["group", ...admission.madeBy];
    case "hook":
      return [admission.inChat ? "group" : "person"];
  }
}

/** Returns the rights of an answer to several messages: what each of their senders may. */
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

/** The targets that the config lists for an admission. Where a schedule speaks is no permission for anybody else. */
function targetsOf({ tools }: Config, admission: Admission): readonly ChatAddress[] {
  if ("sendElsewhere" in admission) return admission.sendElsewhere;
  return admission.by === "hook" && admission.inChat ? [] : tools.sendMessage.to;
}

/** Returns true if two addresses name one chat. */
export function isSameChat(one: ChatAddress, other: ChatAddress): boolean {
  return one.platform === other.platform && one.chat === other.chat;
}
