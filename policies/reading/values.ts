const UNKNOWN = Symbol("known after the update");

export type Fields = Readonly<Record<string, unknown>>;

/**
 * A value that the SDK declares as a `T`. In a preview it may be unknown or of another type, so use the functions
 * below.
 */
export interface Declared<T> {
  /** Type marker for the compiler. Never set at run time. */
  readonly [SHAPE]?: T;
}

declare const SHAPE: unique symbol;

/** Fields of an SDK type. Any field may be unknown. If the SDK renames a field, compilation fails. */
export type DeclaredFields<T> = { readonly [Key in keyof T]?: Declared<NonNullable<T[Key]>> };

/**
 * Copies a value and replaces unknown parts with {@link UNKNOWN}. Reading an unknown part of the original would throw
 * and abort the rule.
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

/** Returns true for a value that the preview does not know yet. Rules must not report it. */
export function isUnknown(value: unknown): boolean {
  return value === UNKNOWN;
}

/** Returns an object's fields; `{}` for anything else. */
export function fields<T extends object>(value: Declared<T> | undefined): DeclaredFields<T>;
export function fields(value: unknown): Fields;
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Returns a list's items; `[]` for anything else. */
export function list<T>(value: Declared<readonly T[]> | undefined): Declared<T>[];
export function list(value: unknown): unknown[];
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a string value; `undefined` if the value is unknown or not a string. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function equals<T>(value: Declared<T> | undefined, expected: T): boolean {
  return (value as unknown) === expected;
}

/** Returns all strings in a value, at any depth. */
export function allTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(allTexts);
}
