import type { Properties, Value } from "../values.ts";
import type { CloudflareApi } from "./api.ts";

/**
 * One kind of resource. The functions receive plain inputs (no secret wrapped) and answer with what
 * the API said, in camelCase.
 */
export interface ResourceDefinition {
  /** The type's token. */
  readonly type: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** The inputs whose change replaces the resource; the others are updated in place. */
  readonly replaceOn: "all" | readonly string[];
  /** Values that an input has where the program gives none. The account has to have them too. */
  readonly defaults?: Properties;
  /** Inputs, at any depth, that the API takes and never returns. */
  readonly unanswered: readonly string[];
  /** Whether one that exists can be imported, by the official provider's form `<account>/<id>`. Default: no. */
  readonly importable?: true;
  /** Adds inputs by which a later change is detected. Receives the inputs as the engine sent them. */
  prepare?(inputs: Properties): Promise<Properties>;
  create(api: CloudflareApi, inputs: Properties): Promise<{ id: string; live: Properties }>;
  /** `undefined` when the resource is gone. */
  read(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties | undefined>;
  /** Present where some input can change in place. */
  update?(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties>;
  /** Absent if deleting the resource sends no request, as in the official provider. */
  delete?(api: CloudflareApi, id: string, inputs: Properties): Promise<void>;
}

/** Returns the properties without the given keys, which usually belong in the path. */
export function without(properties: Properties, ...keys: string[]): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));
}

/** The id of a created thing. */
export function idOf(live: Record<string, Value | undefined>): string {
  if (typeof live["id"] === "string") return live["id"];
  throw new TypeError("Cloudflare's answer has no id");
}
