/** Stands for a value that only the update will know. */
const UNKNOWN = Symbol("known after the update");

/** Named values of no declared shape. */
export type Fields = Readonly<Record<string, unknown>>;

/** A value declared as a `T`. What a preview holds may be another, or not be known: a reader below looks. */
export interface Declared<T> {
  /** Never there: it carries the type. */
  readonly [SHAPE]?: T;
}

declare const SHAPE: unique symbol;

/** Fields under their declared names, so that one that the SDK renames fails the build. */
export type DeclaredFields<T> = { readonly [Key in keyof T]?: Declared<NonNullable<T[Key]>> };

/**
 * A copy in which {@link UNKNOWN} stands for what a preview does not know. Reading such a value from what
 * the engine hands over throws, which ends the whole rule: it would pass over everything else too.
 */
export function copyKnown(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from({ length: value.length }, (_, index) => read(value, index));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, read(value, key)]));
}

function read(from: object, key: string | number): unknown {
  let value: unknown;
  try {
    value = Reflect.get(from, key);
  } catch {
    return UNKNOWN;
  }
  return copyKnown(value);
}

/** An object's fields; of anything else none. */
export function fields<T extends object>(value: Declared<T> | undefined): DeclaredFields<T>;
export function fields(value: unknown): Fields;
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** A list's items; of anything else none. */
export function list<T>(value: Declared<readonly T[]> | undefined): Declared<T>[];
export function list(value: unknown): unknown[];
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, `undefined` where the value is none or not known. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Tells whether a value is this one. */
export function equals<T>(value: Declared<T> | undefined, expected: T): boolean {
  return (value as unknown) === expected;
}

/** All texts in a value, however deep. */
export function allTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(allTexts);
}
