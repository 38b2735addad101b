import type { Config } from "../../contract/config/index.ts";
import type { Capability, Role } from "../../contract/config/rights.ts";
import type { Sender } from "../channels/channel.ts";
import type { Place } from "./question.ts";

/** Tells whether somebody may do something. */
export type May = (capability: Capability) => boolean;

/**
 * Returns who somebody is: an operator that the config names, a person whom the operator let in, or one of a group.
 * While the config names no operator, everyone who was let in counts as one: mostly that is the one person there is.
 */
export function roleOf(
  config: Config,
  { platform, direct }: Pick<Place, "platform" | "direct">,
  { id }: Pick<Sender, "id">,
): Role {
  if (config.agent.operators.includes(`${platform}:${id}`)) return "operator";
  if (!direct) return "group";
  return config.agent.operators.length === 0 ? "operator" : "person";
}

/**
 * Returns what an answer may do. In a group that is never more than the group may, for anyone who asks: others' words stand
 * before the model too, and it follows what it reads.
 */
export function rightsOf(
  config: Config,
  place: Pick<Place, "platform" | "direct">,
  senders: readonly Pick<Sender, "id">[],
): May {
  const roles: Role[] = place.direct ? senders.map((sender) => roleOf(config, place, sender)) : ["group"];
  return (capability) => roles.every((role) => config.agent.may[capability].includes(role));
}
