import { isProperties, isSecret, makeSecret, type Properties, type Value } from "../values.ts";

/** Converts keys to snake_case, at every depth. */
function toWire(value: Value): Value {
  return rename(value, (key) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

export function bodyOf(properties: Properties): Properties {
  const body = toWire(properties);
  return isProperties(body) ? body : {};
}

/** Converts keys to camelCase, at every depth. */
export function fromWire(value: Value): Properties {
  const result = rename(value, (key) => key.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase()));
  return isProperties(result) ? result : {};
}

function rename(value: Value, change: (key: string) => string): Value {
  if (Array.isArray(value)) return value.map((item) => rename(item, change));
  if (!isProperties(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), rename(item, change)]));
}

/** Merges the given values over the defaults, at every depth. */
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
 * Returns a new resource's outputs: the API's response, overridden by the inputs, as in Terraform. Secrets stay
 * wrapped.
 */
export function overlay(live: Value | undefined, input: Value): Value {
  if (Array.isArray(input)) return input.map((item, index) => overlay(counterpart(live, item, index), item));
  if (!isProperties(input) || isSecret(input)) return input;
  const base = live !== undefined && isProperties(live) ? live : {};
  const entries = Object.entries(input).map(([key, item]) => [key, overlay(base[key], item)]);
  return { ...base, ...Object.fromEntries(entries) };
}

/**
 * Converts `live`, a resource's values in the account, to the resource's outputs. Marks as secret the values that are
 * secret in `input`, and copies from `input` the values that the API never returns.
 *
 * @param unanswered keys, at any depth, that the API never returns
 */
export function outputsOf(live: Value, input: Value | undefined, unanswered: readonly string[]): Value {
  if (input === undefined) return live;
  if (isSecret(input)) return makeSecret(outputsOf(live, input.value, unanswered));
  if (Array.isArray(live)) {
    return live.map((item, index) => outputsOf(item, counterpart(input, item, index), unanswered));
  }
  if (!isProperties(live) || !isProperties(input)) return live;
  const kept = Object.entries(input).filter(([key]) => live[key] === undefined && unanswered.includes(key));
  const read = Object.entries(live).map(([key, item]) => [key, outputsOf(item, input[key], unanswered)]);
  return { ...Object.fromEntries(kept), ...Object.fromEntries(read) };
}

/**
 * Returns a resource's inputs with their current values in the account. Leaves inputs that the API never returns
 * (`unanswered`) unchanged; omits other inputs without a value in the account.
 */
export function inputsOf(input: Value, live: Value | undefined, unanswered: readonly string[]): Value {
  if (isSecret(input)) return makeSecret(inputsOf(input.value, live, unanswered));
  if (Array.isArray(input) && Array.isArray(live)) {
    return input.flatMap((item, index) => {
      const other = counterpart(live, item, index);
      return other === undefined ? [] : [inputsOf(item, other, unanswered)];
    });
  }
  if (!isProperties(input) || !isProperties(live)) return live ?? null;
  return Object.fromEntries(
    Object.entries(input).flatMap(([key, item]) => {
      if (live[key] !== undefined && live[key] !== null)
        return [[key, inputsOf(item, live[key], unanswered)]];
      return unanswered.includes(key) ? [[key, item]] : [];
    }),
  );
}

/**
 * Returns true if the state differs from a planned value. Ignores additional keys in the state, which the API
 * computes. Lists of different lengths differ.
 */
export function differs(planned: Value | undefined, state: Value | undefined): boolean {
  if (planned === undefined || planned === null) return false;
  if (isSecret(planned)) return differs(planned.value, state);
  if (state !== undefined && isSecret(state)) return differs(planned, state.value);
  if (Array.isArray(planned)) {
    if (!Array.isArray(state) || state.length !== planned.length) return true;
    return planned.some((item, index) => differs(item, counterpart(state, item, index) ?? null));
  }
  if (!isProperties(planned)) return planned !== state;
  if (state === undefined || !isProperties(state)) return true;
  return Object.entries(planned).some(([key, item]) => differs(item, state[key]));
}

/**
 * Finds the counterpart of `item` in `list`: by name, because the API may reorder lists; without a name, by `index`.
 */
function counterpart(list: Value | undefined, item: Value, index: number): Value | undefined {
  if (list !== undefined && isSecret(list)) return counterpart(list.value, item, index);
  if (!Array.isArray(list)) return undefined;
  if (!isProperties(item) || item["name"] === undefined) return list[index];
  return list.find((other) => isProperties(other) && other["name"] === item["name"]);
}
