/** Placeholder that Pulumi passes for a value unknown in a preview (pulumi sdk/nodejs/runtime/rpc.ts). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export interface Difference {
  changes: boolean;
  /** Properties whose change requires a replacement. */
  replaces?: string[];
  /** Default: false, so the replacement is created first. */
  deleteBeforeReplace?: boolean;
}

/** Current state of a resource; the id is empty if the resource is gone. */
type Found<Inputs, Outputs> =
  | { id: ""; inputs?: never; props?: never }
  | { id: string; inputs?: Inputs; props: Outputs };

/**
 * Manager of the resources of one type. A preview calls only `check` and `diff`. Users see the errors that the
 * methods throw. If an error contains the `id` and `properties` of a new resource, Pulumi stores the resource, and
 * the next update completes it.
 */
export interface ResourceProvider<Inputs extends object, Outputs extends object = Inputs> {
  /** Validates the inputs. May return different inputs to use instead. `olds` is empty for a new resource. */
  check?(olds: Partial<Inputs>, news: Inputs): Promise<Inputs | void>;
  diff(id: string, olds: Outputs, news: Inputs): Promise<Difference>;
  create(inputs: Inputs): Promise<{ id: string; outs: Outputs }>;
  /** Reads the current state in a refresh. Default: the stored state. */
  read?(id: string, props: Outputs): Promise<Found<Inputs, Outputs>>;
  update?(id: string, olds: Outputs, news: Inputs): Promise<{ outs: Outputs }>;
  delete?(id: string, props: Outputs): Promise<void>;
}
