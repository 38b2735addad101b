import * as z from "zod/mini";
import { withHelp } from "./values.ts";

/**
 * Roles of people. `operator`: named in `agent.operators`, or approved as one. `person`: in a direct chat, approved or
 * listed by id. `group`: a member of a group, and whatever a schedule asks. `guest`: in a direct chat, let in only
 * because `allowFrom` has `*`. Everyone else is a stranger, and may do nothing.
 */
export const ROLES = ["operator", "person", "group", "guest"] as const;

/** One of {@link ROLES}. */
export type Role = (typeof ROLES)[number];

/** A role that an approval or a name in the config can grant. */
export type GrantedRole = Extract<Role, "person" | "operator">;

const roles = (allowed: Role[], help: string) => withHelp(z._default(z.array(z.enum(ROLES)), allowed), help);

const NOT_GUESTS = '"guest" cannot have this: it is everyone whom "*" lets in. List people by id instead';

/** Of a capability that nobody has only because `*` lets them in. */
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

/** `agent.may`: which roles may do what. */
export const rights = z.prefault(
  z.strictObject({
    readWorkspace: roles(EVERYONE, "Read the shared files, also those that stand before the model."),
    writeWorkspace: rolesOfKnown(
      ["operator", "person"],
      "Write the shared files: instructions, memory, skills. A role without it has a folder of the chat's own.",
    ),
    keepFiles: roles(
      KNOWN,
      "Write files and remember facts at all; without `writeWorkspace` in the chat's own folder.",
    ),
    fetchWeb: roles(EVERYONE, "Have pages of the web read."),
    schedule: roles(KNOWN, "Make and remove schedules of the chat."),
    sendFiles: roles(KNOWN, "Have files that the chat may read sent into it."),
    sendElsewhere: roles(
      KNOWN,
      "Have messages sent to other chats: operators, persons and guests to those of `tools.sendMessage.to`, a group or a schedule to those of its own `sendElsewhere`.",
    ),
    useMcp: roles(KNOWN, "Have the tools of MCP servers used."),
    seeDeployment: rolesOfKnown(["operator"], "See what all chats together have used: /usage."),
  }),
  {},
);

/** Something that a role may do. */
export type Capability = keyof z.output<typeof rights>;
