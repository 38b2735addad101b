import { isDeepStrictEqual } from "node:util";
import { isProperties, isSecret, makeSecret, reveal, type Properties, type Value } from "../values.ts";

/** camelCase to the API's snake_case, at every depth. */
function toWire(value: Value): Value {
  return rename(value, (key) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

/** {@link toWire} for a request's body. */
export function bodyOf(properties: Properties): Properties {
  const body = toWire(properties);
  return isProperties(body) ? body : {};
}

/** The API's snake_case to camelCase, at every depth. */
export function fromWire(value: Value): Properties {
  const result = rename(value, (key) => key.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase()));
  return isProperties(result) ? result : {};
}

function rename(value: Value, change: (key: string) => string): Value {
  if (Array.isArray(value)) return value.map((item) => rename(item, change));
  if (!isProperties(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), rename(item, change)]));
}

/** The defaults with the given values over them, at every depth. */
export function withDefaults(defaults: Properties, given: Properties): Properties {
  const merged: Properties = { ...defaults };
  for (const [key, value] of Object.entries(given)) {
    const base = defaults[key];
    merged[key] =
      base !== undefined && isProperties(base) && isProperties(value) ? withDefaults(base, value) : value;
  }
  return merged;
}

/**
 * Outputs of a resource: what the API answered, with the inputs over it, so that a secret stays the
 * wrapped secret that it was and what the API never returns is kept.
 */
export function overlay(live: Value | undefined, input: Value): Value {
  if (Array.isArray(input)) return input.map((item, index) => overlay(partner(live, item, index), item));
  if (!isProperties(input) || isSecret(input)) return input;
  const base = live !== undefined && isProperties(live) ? live : {};
  const entries = Object.entries(input).map(([key, item]) => [key, overlay(base[key], item)]);
  return { ...base, ...Object.fromEntries(entries) };
}

/**
 * Inputs that describe what is live: only the keys that the program gave, each with its live value.
 * What the API does not return (secret text, migrations) keeps the value that was given, so a
 * refresh shows a drift exactly where there is one.
 */
export function project(input: Value, live: Value | undefined): Value {
  if (live === undefined || live === null) return input;
  if (isSecret(input)) {
    const value = project(input.value, live);
    return isDeepStrictEqual(reveal(value), reveal(input)) ? input : makeSecret(value);
  }
  if (Array.isArray(input)) return projectList(input, live);
  if (!isProperties(input)) return live;
  if (!isProperties(live)) return live;
  return Object.fromEntries(Object.entries(input).map(([key, item]) => [key, project(item, live[key])]));
}

function projectList(input: Value[], live: Value): Value {
  if (!Array.isArray(live)) return live;
  const kept = input.flatMap((item, index) => {
    const other = partner(live, item, index);
    return other === undefined ? [] : [{ other, value: project(item, other) }];
  });
  const added = live.filter((item) => !kept.some(({ other }) => other === item));
  return [...kept.map(({ value }) => value), ...added];
}

/** The element that an input means: the one of the same name, since the API sorts, else of the same place. */
function partner(live: Value | undefined, item: Value, index: number): Value | undefined {
  if (!Array.isArray(live)) return undefined;
  if (!isProperties(item) || item["name"] === undefined) return live[index];
  return live.find((other) => isProperties(other) && other["name"] === item["name"]);
}
