import * as z from "zod/mini";
import { described } from "./values.ts";

/**
 * Roles of people. `operator`: named in `agent.operators`, if anybody is. `person`: in a direct chat, let in by the
 * operator. `group`: a member of a group, and whatever a schedule asks. Whoever is none of them is a stranger, and may
 * do nothing.
 */
const ROLES = ["operator", "person", "group"] as const;

/** One of {@link ROLES}. */
export type Role = (typeof ROLES)[number];

const roles = (allowed: Role[], help: string) => described(z._default(z.array(z.enum(ROLES)), allowed), help);
const EVERYONE: Role[] = [...ROLES];

/** `agent.may`: which roles may do what. */
export const rights = z.prefault(
  z.strictObject({
    readWorkspace: roles(EVERYONE, "Read the shared files, also those that stand before the model."),
    writeWorkspace: roles(
      ["operator", "person"],
      "Write the shared files: instructions, memory, skills. Whoever may not has a folder of the chat's own.",
    ),
    fetchWeb: roles(EVERYONE, "Have pages of the web read."),
    schedule: roles(EVERYONE, "Make and remove schedules of the chat."),
    sendElsewhere: roles(EVERYONE, "Have messages sent to the chats that `tools.sendMessage.to` names."),
    useMcp: roles(EVERYONE, "Have the tools of MCP servers used."),
    seeDeployment: roles(["operator"], "See what all chats together have used: /usage."),
  }),
  {},
);

/** Something that a role may do. */
export type Capability = keyof z.output<typeof rights>;
