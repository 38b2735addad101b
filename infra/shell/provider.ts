/** Marker for a value that is not known in a preview (pulumi sdk/nodejs/runtime/rpc.ts). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Consequences of changed inputs. */
export interface Difference {
  changes: boolean;
  /** Properties that need another resource in place of this one. */
  replaces?: string[];
  /** Delete the resource before the one in its place is created. Default: false. */
  deleteBeforeReplace?: boolean;
}

/** A resource as it is; an empty id if it is gone. */
type Found<Inputs, Outputs> =
  | { id: ""; inputs?: never; props?: never }
  | { id: string; inputs?: Inputs; props: Outputs };

/**
 * Manages the resources of one type. A preview calls `check` and `diff` alone. What a method throws is shown to people:
 * of an error with a code only its text and its fix. An error with `id` and `properties` of a created resource leaves it
 * in the state, to be completed by the next update.
 */
export interface ResourceProvider<Inputs extends object, Outputs extends object = Inputs> {
  /** Returns the inputs to work with, if they are not the given ones. `olds` is empty for a new resource. */
  check?(olds: Partial<Inputs>, news: Inputs): Promise<Inputs | void>;
  diff(id: string, olds: Outputs, news: Inputs): Promise<Difference>;
  create(inputs: Inputs): Promise<{ id: string; outs: Outputs }>;
  /** By default a refresh keeps what the state has. */
  read?(id: string, props: Outputs): Promise<Found<Inputs, Outputs>>;
  update?(id: string, olds: Outputs, news: Inputs): Promise<{ outs: Outputs }>;
  delete?(id: string, props: Outputs): Promise<void>;
}
