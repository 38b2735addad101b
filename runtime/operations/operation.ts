import * as z from "zod/mini";
import type { OperationTools } from "./tools.ts";

/** A way in. `terminal`: the command line. `console`: `/debug/cli` and the admin pages, by the supervisor. */
export type Entrance = "terminal" | "console";

/** Rights of an operation that every entrance may run. */
export const EVERYWHERE: readonly Entrance[] = ["terminal", "console"];
/** Rights of an operation of the command line alone. */
export const TERMINAL: readonly Entrance[] = ["terminal"];

/** The values that an operation takes, by name: texts, choices and flags, so that words can spell all of them. */
export type Form = z.ZodMiniObject<Record<string, z.ZodMiniType>>;

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
  /** Keys of the input that are words without an option's name, in their order. */
  readonly arguments?: readonly string[];
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
  /**
   * Renders the value for people.
   *
   * @throws StewardError for a value that is an answer to programs and an error to people.
   */
  text(output: O, input: I): string;
  /** Returns what people should know beside the text. Default: nothing. */
  warnings?(output: O): string[];
  /** Returns true for a value that ends the command with exit code 1. Default: false. */
  failed?(output: O): boolean;
  /** The text is printed as it is, without a line end behind it. */
  readonly verbatim?: boolean;
}

/** An operation as its file declares it. */
interface Declared<I extends Form, O extends z.ZodMiniType, T> extends Omit<
  Operation<z.output<I>, z.output<O>, T>,
  "input" | "output" | "arguments" | "terminalOnly"
> {
  input(): I;
  output(): O;
  arguments?: readonly (keyof z.output<I> & string)[];
  terminalOnly?: readonly (keyof z.output<I> & string)[];
}

/** Declares an operation. Its types follow from its schemas. */
export function operation<I extends Form, O extends z.ZodMiniType, T = OperationTools>(
  declared: Declared<I, O, T>,
): Operation<z.output<I>, z.output<O>, T> {
  return declared as Operation<z.output<I>, z.output<O>, T>;
}

/** Describes a value for the help. `shown` stands for it in the form, such as `platform:chat`; default: its name. */
export function described<T extends z.ZodMiniType>(schema: T, help: string, shown?: string): T {
  return schema.check(z.meta({ description: help, ...(shown !== undefined && { title: shown }) })) as T;
}

/** The input of an operation that takes nothing. */
export const nothing = () => z.strictObject({});

/** An output that only programs and the operation itself read. */
export const anything = <T extends object>() =>
  z.custom<T>((value) => typeof value === "object" && value !== null);

/** Returns true: for the `changes` of an operation that always changes something. */
export const always = (): boolean => true;
