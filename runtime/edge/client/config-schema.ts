/** The JSON Schema keywords that describe a value or contain other schemas. */
export interface Schema {
  description?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

export interface Place {
  /**
   * Path (keys and indexes) to the value at the offset passed to `placeAt`, or to the object whose key is at that
   * offset.
   */
  path: string[];
  isKey: boolean;
  /** Start of the word at `offset`, including its quotes. Without a word, `from` and `to` equal `offset`. */
  from: number;
  to: number;
  word: string;
  /** Keys that the enclosing object has before `offset`. */
  taken: string[];
}

export interface Offer {
  label: string;
  text: string;
  help: string;
}

const PIECE = /"(?:[^"\\\n]|\\.)*"?|[{}[\]:,]|[^\s"{}[\]:,]+/g;
const BRACKETS = "{}[]:,";

interface Open {
  isList: boolean;
  at: string | number;
  awaitsKey: boolean;
  keys: string[];
}

/** Returns the JSON path and word at a text offset. The text may be invalid JSON. */
export function placeAt(text: string, offset: number): Place {
  const open: Open[] = [];
  let word = { from: offset, to: offset, text: "" };
  for (const { 0: raw, index } of text.matchAll(PIECE)) {
    if (index >= offset) break;
    const inside = open.at(-1);
    if (raw === "{" || raw === "[")
      open.push({ isList: raw === "[", at: raw === "[" ? 0 : "", awaitsKey: raw === "{", keys: [] });
    else if (raw === "}" || raw === "]") open.pop();
    else if (raw === "," && inside !== undefined) {
      inside.awaitsKey = !inside.isList;
      inside.at = typeof inside.at === "number" ? inside.at + 1 : "";
    } else if (raw === ":" && inside !== undefined) inside.awaitsKey = false;
    else if (!BRACKETS.includes(raw)) {
      const value = raw.replaceAll(/^"|"$/g, "");
      if (offset <= index + raw.length) word = { from: index, to: index + raw.length, text: value };
      else if (inside?.awaitsKey === true) {
        inside.at = value;
        inside.keys.push(value);
      }
    }
  }
  const inside = open.at(-1);
  const isKey = inside?.awaitsKey === true;
  const path = (isKey ? open.slice(0, -1) : open).map(({ at }) => String(at));
  return { path, isKey, from: word.from, to: word.to, word: word.text, taken: inside?.keys ?? [] };
}

export function schemasAt(root: Schema, path: readonly string[]): Schema[] {
  return path.reduce((at, key) => at.flatMap((one) => below(one, key)), spread(root));
}

function below({ properties = {}, additionalProperties, items }: Schema, key: string): Schema[] {
  const next = Object.hasOwn(properties, key) ? properties[key] : (items ?? additionalProperties);
  return typeof next === "object" ? spread(next) : [];
}

/** Returns a schema with its nested alternatives. */
function spread(schema: Schema): Schema[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...parts.flatMap(spread)];
}

export function offersAt(root: Schema, { path, isKey, taken }: Place): Offer[] {
  const schemas = schemasAt(root, path);
  const offers = isKey ? schemas.flatMap((one) => keyOffers(one, taken)) : schemas.flatMap(valueOffers);
  return [...new Map(offers.map((offer) => [offer.label, offer])).values()];
}

function keyOffers({ properties = {} }: Schema, taken: readonly string[]): Offer[] {
  const free = Object.entries(properties).filter(([key]) => !taken.includes(key));
  return free.map(([key, schema]) => ({ label: key, text: JSON.stringify(key), help: describe([schema]) }));
}

const isGiven = (value: unknown): boolean => value !== undefined;

function valuesOf({ type, enum: values = [], const: constant }: Schema): unknown[] {
  return [...values, constant, ...(type === "boolean" ? [true, false] : [])].filter(isGiven);
}

/** Returns a schema's default, unless it is an object or array. */
function defaultOf({ default: usual }: Schema): unknown {
  return typeof usual === "object" ? undefined : usual;
}

function valueOffers(schema: Schema): Offer[] {
  const usual = defaultOf(schema);
  return [...valuesOf(schema), usual].filter(isGiven).map((value) => ({
    label: String(value),
    text: JSON.stringify(value),
    help: value === usual ? "default" : "",
  }));
}

/** Returns a string with a value's description, allowed values and default; empty if none of them is known. */
export function describe(schemas: readonly Schema[]): string {
  const said = schemas.flatMap(spread);
  const description = said.find((one) => one.description !== undefined)?.description;
  const values = new Set(said.flatMap(valuesOf).map((value) => JSON.stringify(value)));
  const usual = said.map(defaultOf).find(isGiven);
  const listed = values.size === 0 ? undefined : `Values: ${[...values].join(", ")}.`;
  const standard = usual === undefined ? undefined : `Default: ${JSON.stringify(usual)}.`;
  return [description, listed, standard].filter(isGiven).join(" ");
}

/** Returns the help, path, start and end of the key or value at an offset. */
export function helpAt(root: Schema, text: string, offset: number) {
  const place = placeAt(text, offset);
  if (place.from === place.to) return undefined;
  const path = place.isKey ? [...place.path, place.word] : place.path;
  const help = describe(schemasAt(root, path));
  return help === "" ? undefined : { from: place.from, to: place.to, path: path.join("."), help };
}
