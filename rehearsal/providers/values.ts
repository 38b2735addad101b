import { isDeepStrictEqual } from "node:util";
import * as secrets from "../../infra/provider/secrets.ts";

/** A property value as the engine sends it: JSON, with secrets wrapped. */
export type Value = null | boolean | number | string | Value[] | Properties;

/** A bag of properties. */
export interface Properties {
  [key: string]: Value;
}

/** True for a value with named properties; a list is none. */
export function isProperties(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A value of unknown origin as a property value. What JSON does not know becomes null; an entry
 * without a value is left out.
 */
export function toValue(value: unknown): Value {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(toValue);
  return isProperties(value) ? toProperties(value) : null;
}

/** A bag of properties of unknown origin; anything else is an empty bag. */
export function toProperties(value: unknown): Properties {
  if (!isProperties(value)) return {};
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, toValue(item)]));
}

/** True for a secret that the engine wrapped. */
export const isSecret = secrets.isSecret<Value>;

/** Wraps a value so that the engine encrypts it in the state. */
export const makeSecret = secrets.makeSecret<Value>;

/** The value without any wrapping: what goes to the cloud's API. */
export function reveal(value: Value): Value {
  return secrets.revealed(value) as Value;
}

/** {@link reveal} for a whole bag. */
export function revealAll(properties: Properties): Properties {
  return secrets.revealed(properties) as Properties;
}

/** The keys whose values differ, wherever secrets are wrapped. */
export function changedKeys(before: Properties, after: Properties): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => !isDeepStrictEqual(plain(before[key]), plain(after[key])));
}

function plain(value: Value | undefined): Value {
  return value === undefined ? null : reveal(value);
}

/** A property that has to be a text, as a request's path needs it. */
export function text(properties: Properties, key: string): string {
  const value = properties[key];
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${key} has to be a text that is not empty`);
}
