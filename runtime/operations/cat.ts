import * as z from "zod/mini";
import { StewardError } from "../contract/errors.ts";
import { argument, operation } from "./operation.ts";

/** The command `cat`. The supervisor reads the file itself, so `cat` works even if no process can start. */
export const cat = operation({
  name: "cat",
  summary: "prints a text file of the data directory",
  rights: ["console"],
  input: () =>
    z.strictObject({ file: argument(z.string().check(z.minLength(1)), "path in the data directory") }),
  // Only a first check: the supervisor also checks where links lead.
  refused: ({ file }) =>
    file.split("/").includes("..") ? "The file lies outside the data directory." : undefined,
  output: () => z.object({ text: z.string() }),
  // Never called: the supervisor reads the file.
  run(): { text: string } {
    throw new StewardError("command_not_allowed");
  },
  text: ({ text }) => text,
  verbatim: true,
});
