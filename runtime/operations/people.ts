import * as z from "zod/mini";
import { ADMITTED } from "../contract/delivery.ts";
import { table } from "../shared/table.ts";
import { EVERYWHERE, operation } from "./operation.ts";

const MAX_PEOPLE = 1_000;

const person = () =>
  z.object({
    /** `<platform>:<id>` */
    key: z.string(),
    name: z.optional(z.string()),
    admitted: z.optional(z.enum(ADMITTED)),
    firstSeenAt: z.iso.datetime(),
    lastSeenAt: z.iso.datetime(),
  });

interface Tools {
  /** Most recently seen first. */
  people(most: number): Promise<z.infer<ReturnType<typeof person>>[]>;
}

export const people = {
  list: operation({
    name: "people list",
    summary: `the last ${MAX_PEOPLE} people who wrote, with name, id, how they are admitted, and when they were seen`,
    rights: EVERYWHERE,
    output: () => z.object({ people: z.array(person()) }),
    run: async ({ people: list }: Tools) => ({ people: await list(MAX_PEOPLE) }),
    text: ({ people: rows }) =>
      rows.length === 0
        ? "No person has written yet."
        : table(
            ["Name", "Platform", "Id", "Admitted", "First seen", "Last seen"],
            rows.map(({ key, name = "", admitted = "", firstSeenAt, lastSeenAt }) => {
              const end = key.indexOf(":");
              return [name, key.slice(0, end), key.slice(end + 1), admitted, firstSeenAt, lastSeenAt];
            }),
          ),
  }),
};
