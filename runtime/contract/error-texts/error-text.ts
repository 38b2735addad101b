import type { OperatorCommands } from "../operator-commands.ts";

/** Texts of an error code, shown to people. */
export interface ErrorText {
  /** HTTP status of the edge's response with this error. */
  status: number;
  title: string;
  cause: string;
  /** The remedy. If it names commands it is a function, because only the printing side knows the stack. */
  fix: string | ((commands: OperatorCommands) => string);
}
