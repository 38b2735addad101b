import { type core, optional, ZodMiniCatch, type ZodMiniOptional } from "zod/mini";

/**
 * Makes a part of a schema optional. A `null` or malformed part is dropped, so that the other parts remain valid.
 *
 * Equals `catch(optional(part), undefined)`, but zod's `catch` would add all of zod's helper functions to a bundle.
 */
export function maybe<T extends core.$ZodType>(part: T): ZodMiniCatch<ZodMiniOptional<T>> {
  const catching = { type: "catch", innerType: optional(part), catchValue: () => undefined } as const;
  return new ZodMiniCatch(catching) as ZodMiniCatch<ZodMiniOptional<T>>;
}
