import * as z from "zod";

const requestSchema = z.looseObject({
  id: z.string().min(1),
  code: z.string().min(1),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  meta: z.record(z.string(), z.string()).optional(),
});

/** `credentials/<channel>-pairing.json`. */
export const requestsSchema = z.strictObject({ version: z.literal(1), requests: z.array(requestSchema) });

/** `credentials/<channel>-allowFrom.json`. */
export const approvedSchema = z.strictObject({
  version: z.literal(1),
  allowFrom: z.array(z.string().min(1)),
});

/** A sender that waits for approval. Times are ISO 8601; `meta` is what the platform tells of the person. */
export type PairingRequest = z.infer<typeof requestSchema>;
