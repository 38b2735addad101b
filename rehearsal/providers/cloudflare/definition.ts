import type { Properties, Value } from "../values.ts";
import type { CloudflareApi } from "./api.ts";

/** A resource type. Functions receive inputs without secret wrappers and return the API's response in camelCase. */
export interface ResourceDefinition {
  readonly type: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Inputs whose change replaces the resource instead of updating it. */
  readonly replaceOn: "all" | readonly string[];
  /** Defaults of unset inputs. A different value in the account counts as a change. */
  readonly defaults?: Properties;
  /** Inputs, at any depth, that the API accepts but never returns. */
  readonly unanswered: readonly string[];
  /** Set if a resource can be imported as `<account>/<id>`. Default: it cannot. */
  readonly importable?: true;
  /** Adds inputs that reveal a change, such as a file's hash. Receives secrets wrapped. */
  prepare?(inputs: Properties): Promise<Properties>;
  create(api: CloudflareApi, inputs: Properties): Promise<{ id: string; live: Properties }>;
  /** Resolves to `undefined` if the resource is gone. */
  read(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties | undefined>;
  /** Present if some input can change in place. */
  update?(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties>;
  /** Absent if deletion sends no request, as in the official provider. */
  delete?(api: CloudflareApi, id: string, inputs: Properties): Promise<void>;
}

export function without(properties: Properties, ...keys: string[]): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));
}

export function idOf(live: Record<string, Value | undefined>): string {
  if (typeof live["id"] === "string") return live["id"];
  throw new TypeError("Cloudflare's answer has no id");
}
