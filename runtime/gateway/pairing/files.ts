import * as z from "zod/mini";

const requestSchema = z.looseObject({
  id: z.string().check(z.minLength(1)),
  code: z.string().check(z.minLength(1)),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  meta: z.optional(z.record(z.string(), z.string())),
});

/** `credentials/<channel>-pairing.json`. */
export const requestsSchema = z.strictObject({ version: z.literal(1), requests: z.array(requestSchema) });

/** `credentials/<channel>-allowFrom.json`. */
export const approvedSchema = z.strictObject({
  version: z.literal(1),
  allowFrom: z.array(z.string().check(z.minLength(1))),
});

/** A sender that waits for approval. Times are ISO 8601; `meta` is what the platform tells of the person. */
export type PairingRequest = z.infer<typeof requestSchema>;
