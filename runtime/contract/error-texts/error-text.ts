import type { OperatorCommands } from "../operator-commands.ts";

/** HTTP status of an error code, and its texts for people. */
export interface ErrorText {
  status: number;
  title: string;
  cause: string;
  /** Remedy. It is a function if it contains commands, because only the program that prints them knows the stack. */
  fix: string | ((commands: OperatorCommands) => string);
}
