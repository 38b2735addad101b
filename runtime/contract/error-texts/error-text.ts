import type { OperatorCommands } from "../operator-commands.ts";

/** HTTP status of an error code, and its texts for people. */
export interface ErrorText {
  status: number;
  title: string;
  cause: string;
  /** Instructions for fixing the error; a function if they contain commands, which depend on the stack. */
  fix: string | ((commands: OperatorCommands) => string);
}
