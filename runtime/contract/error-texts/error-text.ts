import type { OperatorCommands } from "../operator-commands.ts";

/** Fixed facts of an error code. `cause` and `fix` are shown to people. */
export interface ErrorText {
  /** HTTP status where the edge answers with it. */
  status: number;
  title: string;
  cause: string;
  /** The remedy. If it names commands it is a function, because only the printing side knows the stack. */
  fix: string | ((commands: OperatorCommands) => string);
}
