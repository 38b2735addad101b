import type { Properties, Value } from "../values.ts";
import type { CloudflareApi } from "./api.ts";

/** A resource type. Its functions receive inputs with secrets unwrapped, and return the API's response in camelCase. */
export interface ResourceDefinition {
  readonly type: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Inputs that replace the resource when they change. Other inputs are updated in place. */
  readonly replaceOn: "all" | readonly string[];
  /** Expected values of unset inputs. The diff compares them with the account's values. */
  readonly defaults?: Properties;
  /** Inputs, at any depth, that the API never returns. */
  readonly unanswered: readonly string[];
  /** Set if an existing resource can be imported by `<account>/<id>`. Default: not importable. */
  readonly importable?: true;
  /** Adds computed inputs, such as the hash of a file's content. `inputs` may contain wrapped secrets. */
  prepare?(inputs: Properties): Promise<Properties>;
  create(api: CloudflareApi, inputs: Properties): Promise<{ id: string; live: Properties }>;
  /** Reads the resource; resolves to `undefined` if it is gone. */
  read(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties | undefined>;
  /** Updates the resource in place. Absent if every change replaces it. */
  update?(api: CloudflareApi, id: string, inputs: Properties): Promise<Properties>;
  /** Deletes the resource. Absent if the official provider sends no request on deletion. */
  delete?(api: CloudflareApi, id: string, inputs: Properties): Promise<void>;
}

export function without(properties: Properties, ...keys: string[]): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));
}

export function idOf(live: Record<string, Value | undefined>): string {
  if (typeof live["id"] === "string") return live["id"];
  throw new TypeError("Cloudflare's answer has no id");
}
