import { catch as recovered, type core, optional } from "zod/mini";

/**
 * A part that a platform's message may have. One that is `null`, or of another form than the documented one, is left out,
 * and the rest is read: a change of a platform's loses no text.
 */
export const maybe = <T extends core.$ZodType>(part: T) => recovered(optional(part), undefined);
