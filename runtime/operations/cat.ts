import * as z from "zod/mini";
import { described, operation } from "./operation.ts";
import type { OperationTools } from "./tools.ts";

/** `cat`, on `/debug/cli` and the pages: the supervisor reads the file itself, so it works if no process can start. */
export const cat = operation({
  name: "cat",
  summary: "prints a text file of the data directory",
  rights: ["console"],
  input: () =>
    z.strictObject({ file: described(z.string().check(z.minLength(1)), "path in the data directory") }),
  // The supervisor looks at what the path leads to.
  refused: ({ file }) =>
    file.split("/").includes("..") ? "The file lies outside the data directory." : undefined,
  arguments: ["file"],
  output: () => z.object({ text: z.string() }),
  run: async (tools: Pick<OperationTools, "readDataFile">, { file }) => ({
    text: await tools.readDataFile(file),
  }),
  text: ({ text }) => text,
  verbatim: true,
});
