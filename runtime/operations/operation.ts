import * as z from "zod/mini";
import { sha256Hex } from "../contract/digest.ts";
import { once } from "../shared/once.ts";
import type { commandTools } from "../gateway/cli/tools.ts";

export type OperationTools = ReturnType<typeof commandTools>;

/** Place from which an operation is called. `console` means `/debug/cli` and the admin pages. */
export type Entrance = "terminal" | "console";

export const EVERYWHERE: readonly Entrance[] = ["terminal", "console"];
export const TERMINAL: readonly Entrance[] = ["terminal"];

/** Schema of an operation's input. Fields are strings, choices or flags, as on a command line. */
export type Form = z.ZodMiniObject<Record<string, z.ZodMiniType>>;

/** Single-line names of people and chats by `<platform>:<id>`. */
export type Names = ReadonlyMap<string, string>;

/** An action for operators, available on the command line, in `/debug/cli` or on web pages. */
export interface Operation<I = object, O = unknown, T = OperationTools> {
  /** Such as `sessions list`. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** Returns the input's schema. It is built on demand, because every start loads this module. */
  input(): Form;
  /** Schema of the output's fields that a page or {@link text} reads. `--json` prints the whole output. */
  output(): z.ZodMiniType<O>;
  readonly rights: readonly Entrance[];
  /** Input keys that only the command line may set. */
  readonly terminalOnly?: readonly string[];
  /**
   * Returns the reason if the console refuses an input although it is valid, otherwise `undefined`. Default: no valid
   * input is refused.
   */
  refused?(input: I): string | undefined;
  /**
   * Returns true if a run changes something, costs money or shows messages. The activity log then records the run,
   * and a GET request from another site needs confirmation.
   */
  changes?(input: I): boolean;
  run(tools: T, input: I): O | Promise<O>;
  /** Returns the keys (`<platform>:<id>`) of the people and chats in the output. Default: none. */
  keys?(output: O): string[];
  /**
   * Renders the output as text. Not called with `--json`. For each key that {@link Operation.keys} returns, `names`
   * contains the name of the person or chat, if that name is known.
   *
   * @throws StewardError if the output represents a failure
   */
  text(output: O, input: I, names?: Names): string;
  /** Returns warnings to print in addition to {@link Operation.text}. Default: none. */
  warnings?(output: O): string[];
  /** Returns true if the exit code must be 1. */
  failed?(output: O): boolean;
  /** True to print the text without a trailing line break. */
  readonly verbatim?: boolean;
}

/**
 * Argument of {@link operation}. By default, `input` has no fields, and `output` accepts any value that `run`
 * returns.
 */
type Declared<I extends Form, O, T> = Omit<Operation<z.output<I>, O, T>, "input" | "output"> & {
  input?(): I;
  output?(): z.ZodMiniType<O>;
};

/**
 * Creates an operation. Its schemas determine its types; without an output schema, `run` determines the output's
 * type.
 */
export function operation<O, I extends Form = z.ZodMiniObject<Record<never, never>>, T = OperationTools>(
  declared: Declared<I, O, T>,
): Operation<z.output<I>, O, T> {
  const { input = () => z.strictObject({}), output = () => z.custom<O>((value) => value !== undefined) } =
    declared;
  return { ...declared, input: once<Form>(input), output: once(output) };
}

/**
 * Describes an argument. Arguments are positional, in the order of the input's keys.
 *
 * @param shown - placeholder in the usage, such as `platform`; default: the argument's name
 */
export function argument<T extends z.ZodMiniType>(schema: T, help: string, shown?: string): T {
  return schema.check(z.meta({ description: help, ...(shown !== undefined && { title: shown }) })) as T;
}

/** Describes an option. Its value follows its name on the command line. */
export function option<T extends z.ZodMiniType>(schema: T, help: string, shown?: string): T {
  return argument(schema.check(z.meta({ option: true })) as T, help, shown);
}

export function flag(help: string) {
  return option(z.optional(z.boolean()), help);
}

/** Length of the hexadecimal digest at the beginning of an `undo` record. */
export const SEAL_LENGTH = 64;

/** Returns an `undo` record: the removed data as JSON, preceded by its digest. */
export async function sealRecord(taken: object): Promise<string> {
  const text = JSON.stringify(taken);
  return (await sha256Hex(text)) + text;
}

/** Removes the `undo` record from an output, because only the console can use it. */
export function withoutUndo<T>(value: T): T {
  return typeof value === "object" && value !== null && "undo" in value
    ? { ...value, undo: undefined }
    : value;
}

export const always = (): boolean => true;
