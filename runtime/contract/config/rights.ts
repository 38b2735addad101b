import * as z from "zod/mini";
import { withHelp } from "./values.ts";

/**
 * Roles of people. `operator`: named in `agent.operators`, or approved as an operator. `person`: in a direct chat,
 * approved or listed by id. `group`: a member of a group, or a schedule. `guest`: in a direct chat, admitted only
 * because `allowFrom` has `*`. A sender without a role has no rights.
 */
export const ROLES = ["operator", "person", "group", "guest"] as const;

export type Role = (typeof ROLES)[number];

/** A role that an approval or the config can grant. */
export type GrantedRole = Extract<Role, "person" | "operator">;

const roles = (allowed: Role[], help: string) => withHelp(z._default(z.array(z.enum(ROLES)), allowed), help);

const NOT_GUESTS =
  '"guest" cannot have this, because it means everyone whom "*" admits. List people by id instead';

/** Schema for the roles that have a capability. Refuses `guest`. */
const rolesOfKnown = (allowed: Role[], help: string) =>
  withHelp(
    z._default(
      z.array(z.enum(ROLES)).check(z.refine((given) => !given.includes("guest"), NOT_GUESTS)),
      allowed,
    ),
    help,
  );

const EVERYONE: Role[] = [...ROLES];
const KNOWN: Role[] = ["operator", "person", "group"];

export const rights = z.prefault(
  z.strictObject({
    readWorkspace: roles(EVERYONE, "Read the shared files, including those in the model's prompt."),
    writeWorkspace: rolesOfKnown(
      ["operator", "person"],
      "Write the shared files: instructions, memory, skills. Roles without this right write to the chat's own folder.",
    ),
    keepFiles: roles(
      KNOWN,
      "Write files and remember facts; without `writeWorkspace`, only in the chat's own folder.",
    ),
    fetchWeb: roles(EVERYONE, "Let the agent read web pages."),
    schedule: roles(KNOWN, "Create and remove the chat's schedules."),
    sendFiles: roles(KNOWN, "Let the agent send files that the chat may read into the chat."),
    sendElsewhere: roles(
      KNOWN,
      "Let the agent send messages to other chats. Operators, persons and guests: to those in `tools.sendMessage.to`. Groups and schedules: to those in their own `sendElsewhere`.",
    ),
    useMcp: roles(KNOWN, "Let the agent use the tools of MCP servers."),
    seeDeployment: rolesOfKnown(["operator"], "See the usage of all chats together: /usage."),
  }),
  {},
);

export type Capability = keyof z.output<typeof rights>;
