import type { OperatorCommands } from "../operator-commands.ts";

/** HTTP status and displayed texts of an error code. */
export interface ErrorText {
  status: number;
  title: string;
  cause: string;
  /** Instructions for fixing the error; a function if they contain commands, which depend on the stack. */
  fix: string | ((commands: OperatorCommands) => string);
}
