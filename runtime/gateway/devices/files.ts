import * as z from "zod/mini";

const device = {
  /** SHA-256 of the public key, in hex. */
  deviceId: z.string().check(z.minLength(1)),
  /** The raw Ed25519 key, base64url. */
  publicKey: z.string().check(z.minLength(1)),
  /** What the device calls itself: a stranger's word until it is approved. */
  displayName: z.string(),
  platform: z.string(),
  role: z.string().check(z.minLength(1)),
  scopes: z.array(z.string()),
  remoteIp: z.string(),
};

const requestSchema = z.looseObject({
  requestId: z.string().check(z.minLength(1)),
  ...device,
  /** Milliseconds since the epoch. */
  ts: z.number(),
});

const tokenSchema = z.looseObject({
  token: z.string().check(z.minLength(1)),
  scopes: z.array(z.string()),
  createdAtMs: z.number(),
  rotatedAtMs: z.optional(z.number()),
  revokedAtMs: z.optional(z.number()),
  lastUsedAtMs: z.optional(z.number()),
});

const pairedSchema = z.looseObject({
  ...device,
  /** By role. */
  tokens: z.record(z.string(), tokenSchema),
  createdAtMs: z.number(),
  approvedAtMs: z.number(),
});

/** `devices/pending.json`, by request id. */
export const pendingFileSchema = z.record(z.string(), requestSchema);

/** `devices/paired.json`, by device id. */
export const pairedFileSchema = z.record(z.string(), pairedSchema);

/** A device that waits for approval. */
export type DeviceRequest = z.infer<typeof requestSchema>;

/** A device that was approved. It stays on the list when it is revoked, so that it cannot ask again. */
export type PairedDevice = z.infer<typeof pairedSchema>;

/** Whether a device may still be used: it has a token that was not revoked. */
export function isUsable({ tokens }: PairedDevice): boolean {
  return Object.values(tokens).some(({ revokedAtMs }) => revokedAtMs === undefined);
}
