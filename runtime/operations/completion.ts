import * as z from "zod/mini";
import { argument, operation, TERMINAL } from "./operation.ts";

export const completion = operation({
  name: "completion",
  summary: "prints completions for a shell, such as: source <(steward completion bash)",
  rights: TERMINAL,
  input: () => z.strictObject({ shell: argument(z.enum(["bash", "zsh", "fish"]), "the shell") }),
  output: () => z.object({ script: z.string() }),
  run: async (tools, { shell }) => ({ script: await tools.completion(shell) }),
  text: ({ script }) => script,
  verbatim: true,
});
