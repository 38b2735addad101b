import * as z from "zod/mini";
import { sha256Hex } from "../contract/digest.ts";
import { once } from "../shared/once.ts";
import type { commandTools } from "../gateway/cli/tools.ts";

export type OperationTools = ReturnType<typeof commandTools>;

/** Caller of operations. `console` is `/debug/cli` and the admin pages, through the supervisor. */
export type Entrance = "terminal" | "console";

export const EVERYWHERE: readonly Entrance[] = ["terminal", "console"];
export const TERMINAL: readonly Entrance[] = ["terminal"];

/** An operation's input by name: only texts, choices and flags, so that a command line can express all values. */
export type Form = z.ZodMiniObject<Record<string, z.ZodMiniType>>;

/** Single-line names of people and chats by `<platform>:<id>`. */
export type Names = ReadonlyMap<string, string>;

/** An action for operators. The command line, `/debug/cli`, pages, help and completions derive from it. */
export interface Operation<I = object, O = unknown, T = OperationTools> {
  /** Such as `sessions list`. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** Built on demand, because every start loads this module. */
  input(): Form;
  /** Schema of the parts that a page or {@link text} reads. `--json` prints the whole value. */
  output(): z.ZodMiniType<O>;
  readonly rights: readonly Entrance[];
  /** Input keys that only the command line may set. */
  readonly terminalOnly?: readonly string[];
  /** Returns why the console refuses a valid input. Default: it accepts all. */
  refused?(input: I): string | undefined;
  /**
   * Returns true if the activity log must record a run and a GET must prove its origin: the run changes something,
   * costs money or shows messages. Default: false.
   */
  changes?(input: I): boolean;
  run(tools: T, input: I): O | Promise<O>;
  /** Keys (`<platform>:<id>`) of the people and chats in a value. Default: none. */
  keys?(output: O): string[];
  /**
   * Renders the value for people. `names` has the known names of {@link Operation.keys}.
   *
   * @throws StewardError for a value that programs read as a result but people must see as an error.
   */
  text(output: O, input: I, names?: Names): string;
  /** Printed in addition to the text. Default: none. */
  warnings?(output: O): string[];
  /** Returns true if the exit code must be 1. Default: false. */
  failed?(output: O): boolean;
  /** Prints the text without a trailing line break. */
  readonly verbatim?: boolean;
}

/** Default input: none. Default output: the type that `run` returns, unchecked. */
type Declared<I extends Form, O, T> = Omit<Operation<z.output<I>, O, T>, "input" | "output"> & {
  input?(): I;
  output?(): z.ZodMiniType<O>;
};

/** Derives an operation's types from its schemas; without an output schema, from `run`. */
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

/** Describes an option, whose value follows its name. See {@link argument}. */
export function option<T extends z.ZodMiniType>(schema: T, help: string, shown?: string): T {
  return argument(schema.check(z.meta({ option: true })) as T, help, shown);
}

export function flag(help: string) {
  return option(z.optional(z.boolean()), help);
}

/** Length of the hexadecimal digest that begins a record. */
export const SEAL_LENGTH = 64;

/** Returns a text from which `undo` can restore what was removed. */
export async function sealRecord(taken: object): Promise<string> {
  const text = JSON.stringify(taken);
  return (await sha256Hex(text)) + text;
}

/** Removes the `undo` record, which only the console can use. */
export function withoutUndo<T>(value: T): T {
  return typeof value === "object" && value !== null && "undo" in value
    ? { ...value, undo: undefined }
    : value;
}

export const always = (): boolean => true;
