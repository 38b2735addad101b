/** Marker for a value unknown in a preview, from pulumi sdk/nodejs/runtime/rpc.ts. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export interface Difference {
  changes: boolean;
  /** Properties whose change requires a replacement. */
  replaces?: string[];
  /** Delete the old resource before creating its replacement. Default: false. */
  deleteBeforeReplace?: boolean;
}

/** A resource's current state; an empty id if it is gone. */
type Found<Inputs, Outputs> =
  | { id: ""; inputs?: never; props?: never }
  | { id: string; inputs?: Inputs; props: Outputs };

/**
 * Manages the resources of one type. Previews call only `check` and `diff`. Users see thrown errors. An error with the
 * `id` and `properties` of a new resource keeps it in the state, and the next update completes it.
 */
export interface ResourceProvider<Inputs extends object, Outputs extends object = Inputs> {
  /** Returns changed inputs, or nothing to use the given ones. `olds` is empty for a new resource. */
  check?(olds: Partial<Inputs>, news: Inputs): Promise<Inputs | void>;
  diff(id: string, olds: Outputs, news: Inputs): Promise<Difference>;
  create(inputs: Inputs): Promise<{ id: string; outs: Outputs }>;
  /** Default: a refresh keeps the state. */
  read?(id: string, props: Outputs): Promise<Found<Inputs, Outputs>>;
  update?(id: string, olds: Outputs, news: Inputs): Promise<{ outs: Outputs }>;
  delete?(id: string, props: Outputs): Promise<void>;
}
