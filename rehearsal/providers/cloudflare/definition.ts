import type { Properties, Value } from "../values.ts";
import type { CloudflareApi } from "./api.ts";

/**
 * A type of resource. The functions receive plain inputs, without secret wrappers, and return the API's response in
 * camelCase.
 */
export interface ResourceDefinition {
  /** The type's token. */
  readonly type: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Inputs that replace the resource when they change; the others are updated in place. */
  readonly replaceOn: "all" | readonly string[];
  /** Values of inputs that the program does not set. A resource with another value in the account counts as changed. */
  readonly defaults?: Properties;
  /** Inputs, at any depth, that the API accepts but never returns. */
  readonly unanswered: readonly string[];
  /**
   * Set if an existing resource can be imported, by the official provider's form `<account>/<id>`. Default: it cannot.
   */
  readonly importable?: true;
  /** Adds inputs by which a later change is detected. Receives the inputs as the engine sent them. */
  prepare?(inputs: Properties): Promise<Properties>;
  create(api: CloudflareApi, inputs: Properties): Promise<{ id: string; live: Properties }>;
  /** Resolves to `undefined` if the resource is gone. */
  read(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties | undefined>;
  /** Present if some input can change in place. */
  update?(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties>;
  /** Absent if deleting the resource sends no request, as in the official provider. */
  delete?(api: CloudflareApi, id: string, inputs: Properties): Promise<void>;
}

/** Returns the properties without the given keys, which usually belong in the path. */
export function without(properties: Properties, ...keys: string[]): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));
}

/** Returns the id of a created resource. */
export function idOf(live: Record<string, Value | undefined>): string {
  if (typeof live["id"] === "string") return live["id"];
  throw new TypeError("Cloudflare's answer has no id");
}
