import * as z from "zod/mini";
import { sha256Hex } from "../contract/digest.ts";
import { once } from "../shared/once.ts";
import type { commandTools } from "../gateway/cli/tools.ts";

/** Capabilities of operations: the data directory, the gateway of this machine and the clock. */
export type OperationTools = ReturnType<typeof commandTools>;

/** A way in. `terminal`: the command line. `console`: `/debug/cli` and the admin pages, by the supervisor. */
export type Entrance = "terminal" | "console";

/** Rights of an operation that every entrance may run. */
export const EVERYWHERE: readonly Entrance[] = ["terminal", "console"];
/** Rights of an operation of the command line alone. */
export const TERMINAL: readonly Entrance[] = ["terminal"];

/** The values that an operation takes, by name: texts, choices and flags, so that words can spell all of them. */
export type Form = z.ZodMiniObject<Record<string, z.ZodMiniType>>;

/** Names of people and places, as lines of plain text, by their keys `<platform>:<id>`. */
export type Names = ReadonlyMap<string, string>;

/** Something that an operator can do. Command line, `/debug/cli`, pages, help and completions derive from it. */
export interface Operation<I = object, O = unknown, T = OperationTools> {
  /** Words that name it, such as `sessions list`. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** Made on demand: each start loads this module. */
  input(): Form;
  /** Parts of the value that a page or {@link text} reads. `--json` prints the value whole. */
  output(): z.ZodMiniType<O>;
  readonly rights: readonly Entrance[];
  /** Keys of the input that only the command line may give. */
  readonly terminalOnly?: readonly string[];
  /** Returns why the console does not allow an input. Default: it allows all that fit. */
  refused?(input: I): string | undefined;
  /**
   * Returns true if a run belongs in the activity log, and a GET must prove that no other site caused it: it changes
   * something, costs something or shows what people wrote. Default: false.
   */
  changes?(input: I): boolean;
  /** @throws StewardError for what cannot be done. */
  run(tools: T, input: I): O | Promise<O>;
  /** Returns the keys, `<platform>:<id>`, of the people and places in a value. Default: none. */
  keys?(output: O): string[];
  /**
   * Renders the value for people. `names` are those of {@link Operation.keys}, where the entrance knows any.
   *
   * @throws StewardError for a value that is an answer to programs and an error to people.
   */
  text(output: O, input: I, names?: Names): string;
  /** Returns what people should know beside the text. Default: nothing. */
  warnings?(output: O): string[];
  /** Returns true for a value that ends the command with exit code 1. Default: false. */
  failed?(output: O): boolean;
  /** The text is printed as it is, without a line end behind it. */
  readonly verbatim?: boolean;
}

/** An operation as its file declares it. Default input: nothing. Default output: the type that `run` returns, unchecked. */
type Declared<I extends Form, O, T> = Omit<Operation<z.output<I>, O, T>, "input" | "output"> & {
  input?(): I;
  output?(): z.ZodMiniType<O>;
};

/** Declares an operation. Its types follow from its schemas, and without an output's from `run`. */
export function operation<O, I extends Form = z.ZodMiniObject<Record<never, never>>, T = OperationTools>(
  declared: Declared<I, O, T>,
): Operation<z.output<I>, O, T> {
  const { input = () => z.strictObject({}), output = () => z.custom<O>((value) => value !== undefined) } =
    declared;
  return { ...declared, input: once<Form>(input), output: once(output) };
}

/**
 * Describes an argument for the help. Arguments are words without a name, in the order of the input's keys.
 *
 * @param shown - stands for the value in the form, such as `platform`; default: its name
 */
export function argument<T extends z.ZodMiniType>(schema: T, help: string, shown?: string): T {
  return schema.check(z.meta({ description: help, ...(shown !== undefined && { title: shown }) })) as T;
}

/** Describes an option for the help. Its value follows its name; see {@link argument}. */
export function option<T extends z.ZodMiniType>(schema: T, help: string, shown?: string): T {
  return argument(schema.check(z.meta({ option: true })) as T, help, shown);
}

/** Describes an option without a value. */
export function flag(help: string) {
  return option(z.optional(z.boolean()), help);
}

/** Characters of a digest before what {@link sealRecord} returns. */
export const SEAL_LENGTH = 64;

/** Returns the record of a removal: a text from which `undo` restores what was there. */
export async function sealRecord(taken: object): Promise<string> {
  const text = JSON.stringify(taken);
  return (await sha256Hex(text)) + text;
}

/** Returns an answer as scripts read it: without what only the console restores from. */
export function withoutUndo<T>(value: T): T {
  return typeof value === "object" && value !== null && "undo" in value
    ? { ...value, undo: undefined }
    : value;
}

/** Returns true: for the `changes` of an operation that always changes something. */
export const always = (): boolean => true;
