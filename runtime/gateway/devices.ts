import { join } from "node:path";
import * as z from "zod/mini";
import { ensureDirectory, writeFileAtomic } from "../process/files.ts";
import { withLock } from "../process/lock.ts";
import { randomBytes } from "../process/random.ts";
import { Devices } from "../shared/devices.ts";
import { readStoreFile, type StoreFileOptions } from "./store-file.ts";

const device = {
  deviceId: z.string().check(z.minLength(1)),
  publicKey: z.string().check(z.minLength(1)),
  displayName: z.string(),
  platform: z.string(),
  role: z.string().check(z.minLength(1)),
  scopes: z.array(z.string()),
  remoteIp: z.string(),
};

const requestSchema = z.looseObject({
  requestId: z.string().check(z.minLength(1)),
  ...device,
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
  tokens: z.record(z.string(), tokenSchema),
  createdAtMs: z.number(),
  approvedAtMs: z.number(),
});

/** `devices/pending.json`, by request id. */
export const pendingFileSchema = z.record(z.string(), requestSchema);

/** `devices/paired.json`, by device id. */
export const pairedFileSchema = z.record(z.string(), pairedSchema);

export interface DeviceStoreOptions extends StoreFileOptions {
  /** The data directory. Devices are stored in its `devices/` folder. */
  home: string;
}

/**
 * Stores devices and their requests in the data directory. Changes replace whole files under one lock, so reading
 * needs none. A corrupt file is renamed and counts as empty.
 */
export class DeviceStore extends Devices {
  constructor(options: DeviceStoreOptions) {
    const directory = join(options.home, "devices");
    const [pendingPath, pairedPath] = [join(directory, "pending.json"), join(directory, "paired.json")];
    const write = (path: string, value: object): void =>
      writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
    super({
      pending: () => Object.values(readStoreFile(pendingPath, pendingFileSchema, options) ?? {}),
      paired: () => Object.values(readStoreFile(pairedPath, pairedFileSchema, options) ?? {}),
      writePending: (requests) =>
        write(pendingPath, Object.fromEntries(requests.map((one) => [one.requestId, one]))),
      writePaired: (devices) =>
        write(pairedPath, Object.fromEntries(devices.map((one) => [one.deviceId, one]))),
      change(work) {
        ensureDirectory(directory);
        return withLock(join(directory, "devices.lock"), work);
      },
      token: () => randomBytes(32).toString("base64url"),
      clock: () => options.clock(),
    });
  }
}
