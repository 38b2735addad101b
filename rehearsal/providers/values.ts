import { isDeepStrictEqual } from "node:util";
import * as secrets from "../../infra/provider/secrets.ts";

/** JSON value in which secrets are wrapped objects, as the engine sends it. */
export type Value = null | boolean | number | string | Value[] | Properties;

export interface Properties {
  [key: string]: Value;
}

/** Returns false for a list. */
export function isProperties(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Converts any value to a JSON value. Replaces values of types that JSON lacks with null, and omits properties that
 * are `undefined`.
 */
export function toValue(value: unknown): Value {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(toValue);
  return isProperties(value) ? toProperties(value) : null;
}

/** Returns `{}` for anything but an object. */
export function toProperties(value: unknown): Properties {
  if (!isProperties(value)) return {};
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, toValue(item)]));
}

export const isSecret = secrets.isSecret<Value>;

export const makeSecret = secrets.makeSecret<Value>;

/** Unwraps all secrets in a value, because the cloud's API needs plain values. */
export function reveal(value: Value): Value {
  return secrets.revealed(value) as Value;
}

export function revealAll(properties: Properties): Properties {
  return secrets.revealed(properties) as Properties;
}

/** Returns the changed keys. Compares values with secrets unwrapped. */
export function changedKeys(before: Properties, after: Properties): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => !isDeepStrictEqual(plain(before[key]), plain(after[key])));
}

function plain(value: Value | undefined): Value {
  return value === undefined ? null : reveal(value);
}

/**
 * Returns a string property for use in a request path.
 *
 * @throws TypeError if the property is missing, empty or not a string
 */
export function text(properties: Properties, key: string): string {
  const value = properties[key];
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${key} must be a non-empty string`);
}
