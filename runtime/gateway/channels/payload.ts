import { catch as recovered, type core, optional } from "zod/mini";

/**
 * Fields of a part of a payload. `read`: a schema's; `left`: documented, and left out on purpose. All others are
 * unknown to this version.
 */
interface Fields {
  read: Readonly<Record<string, unknown>>;
  left: readonly string[];
}

/** Returns the fields of a part that are neither read nor left out on purpose, with the part's name before them. */
export function unknownFields(part: unknown, name: string, { read, left }: Fields): string[] {
  if (typeof part !== "object" || part === null) return [];
  const known = new Set([...Object.keys(read), ...left]);
  return Object.keys(part)
    .filter((field) => !known.has(field))
    .map((field) => (name === "" ? field : `${name}.${field}`));
}

/**
 * A part that a platform's message may have. One that is `null`, or of another form than the documented one, is left out,
 * and the rest is read: a change of a platform's loses no text.
 */
export const maybe = <T extends core.$ZodType>(part: T) => recovered(optional(part), undefined);
