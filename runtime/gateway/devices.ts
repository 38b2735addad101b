import { join } from "node:path";
import * as z from "zod/mini";
import type { GrantedRole } from "../contract/config/rights.ts";
import { networkOf } from "../contract/client.ts";
import { ensureDirectory, writeFileAtomic } from "../process/files.ts";
import { withLock } from "../process/lock.ts";
import { randomBytes } from "../process/random.ts";
import { readStoreFile, type StoreFileOptions } from "./store-file.ts";

const device = {
  /** SHA-256 of the public key, in hex. */
  deviceId: z.string().check(z.minLength(1)),
  /** The raw Ed25519 key, base64url. */
  publicKey: z.string().check(z.minLength(1)),
  /** Name that the device gives itself: a stranger's word until it is approved. */
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

/** A request that was forgotten must not open the door later. */
const LIFE_MS = 5 * 60_000;
/** Strangers cannot fill the store, and the operator's list stays readable. */
const MOST_PENDING = 10;
const MOST_PENDING_OF_NETWORK = 3;
/** Shortest time between two notes of a device's last use. */
const USED_EVERY_MS = 60_000;
/** Access to the web chat, which every device asks for. */
const ACCESS = { role: "chat", scopes: ["chat"] };
/** The scope that grants an operator's rights in the chat. A device without it has a person's. */
const OPERATOR_SCOPE = "operator";

/** Dependencies of a device store. */
export interface DeviceStoreOptions extends StoreFileOptions {
  /** The data directory; the stores are in its `devices/`. */
  home: string;
}

/** Statement of a device about itself, and its origin. */
type NewDevice = Pick<DeviceRequest, "deviceId" | "publicKey" | "displayName" | "platform" | "remoteIp">;

/**
 * Store of the devices that wait for approval, and of those that have it. Gateway and command line use it side by side:
 * every change reads, changes and replaces the files under one lock; a reader needs none, since a file
 * is replaced as a whole. A file that cannot be read is set aside and counts as empty.
 */
export class DeviceStore {
  readonly #options: DeviceStoreOptions;
  readonly #directory: string;
  readonly #pendingPath: string;
  readonly #pairedPath: string;

  constructor(options: DeviceStoreOptions) {
    this.#options = options;
    this.#directory = join(options.home, "devices");
    this.#pendingPath = join(this.#directory, "pending.json");
    this.#pairedPath = join(this.#directory, "paired.json");
  }

  /** The requests that are not older than 5 minutes, the oldest first. */
  pending(): DeviceRequest[] {
    const now = this.#options.clock();
    const requests = readStoreFile(this.#pendingPath, pendingFileSchema, this.#options) ?? {};
    return Object.values(requests).filter(({ ts }) => now - ts < LIFE_MS);
  }

  /** Every device that was approved, revoked ones too. */
  paired(): PairedDevice[] {
    return Object.values(readStoreFile(this.#pairedPath, pairedFileSchema, this.#options) ?? {});
  }

  /**
   * Notes that a device asks to be let in; one that asks again keeps its request. Where as many as allowed wait, the
   * oldest of the network that has the most is evicted: a stranger locks out only its own network.
   *
   * @returns its request; `undefined` where the device is known already.
   */
  request(device: NewDevice): DeviceRequest | undefined {
    return this.#change(() => {
      if (this.paired().some(({ deviceId }) => deviceId === device.deviceId)) return undefined;
      const pending = this.pending();
      const known = pending.find(({ deviceId }) => deviceId === device.deviceId);
      if (known !== undefined) return known;
      const request = { requestId: crypto.randomUUID(), ...device, ...ACCESS, ts: this.#options.clock() };
      this.#writePending([...withRoomFor(networkOf(device.remoteIp), pending), request]);
      return request;
    });
  }

  /** Approves a request, with a role in the chat. `undefined`: it is not pending any more. */
  approve(requestId: string, granted: GrantedRole = "person"): PairedDevice | undefined {
    return this.#settle(requestId, (request) => {
      const { deviceId, publicKey, displayName, platform, role, remoteIp, ts } = request;
      const scopes = scopesFor(request.scopes, granted);
      const now = this.#options.clock();
      const token = { token: randomBytes(32).toString("base64url"), scopes, createdAtMs: now };
      const device = { deviceId, publicKey, displayName, platform, role, scopes, remoteIp };
      const paired = { ...device, tokens: { [role]: token }, createdAtMs: ts, approvedAtMs: now };
      this.#writePaired([...this.paired(), paired]);
      return paired;
    });
  }

  /** Drops a request. `undefined`: it is not pending any more. */
  reject(requestId: string): DeviceRequest | undefined {
    return this.#settle(requestId, (request) => request);
  }

  /** Gives an approved device another role in the chat. `undefined`: there is no such device that may be used. */
  grant(deviceId: string, granted: GrantedRole): PairedDevice | undefined {
    const device = this.#edit(deviceId, (one) => {
      const scopes = scopesFor(one.scopes, granted);
      const tokens = Object.entries(one.tokens).map(([role, token]) => [role, { ...token, scopes }]);
      return isUsable(one) ? { ...one, scopes, tokens: Object.fromEntries(tokens) } : one;
    });
    return device !== undefined && isUsable(device) ? device : undefined;
  }

  /** Takes every right of a device back. `undefined`: there is no such device. */
  revoke(deviceId: string): PairedDevice | undefined {
    return this.#edit(deviceId, (device) => this.#mark(device, "revokedAtMs"));
  }

  /** Notes that a device was used. */
  used(deviceId: string): void {
    this.#edit(deviceId, (device) => {
      const last = Object.values(device.tokens).map(({ lastUsedAtMs }) => lastUsedAtMs ?? 0);
      const recent = this.#options.clock() - Math.max(0, ...last) < USED_EVERY_MS;
      return recent || !isUsable(device) ? device : this.#mark(device, "lastUsedAtMs");
    });
  }

  #mark(device: PairedDevice, field: "revokedAtMs" | "lastUsedAtMs"): PairedDevice {
    const now = this.#options.clock();
    const tokens = Object.entries(device.tokens).map(([role, token]) =>
      token.revokedAtMs === undefined ? [role, { ...token, [field]: now }] : [role, token],
    );
    return { ...device, tokens: Object.fromEntries(tokens) };
  }

  // What follows from the request is written first: a crash in between leaves it pending, to be settled again.
  #settle<T>(requestId: string, carryOut: (request: DeviceRequest) => T): T | undefined {
    return this.#change(() => {
      const pending = this.pending();
      const request = pending.find((one) => one.requestId === requestId);
      if (request === undefined) return undefined;
      const result = carryOut(request);
      this.#writePending(pending.filter((one) => one !== request));
      return result;
    });
  }

  #edit(deviceId: string, change: (device: PairedDevice) => PairedDevice): PairedDevice | undefined {
    return this.#change(() => {
      const devices = this.paired();
      const device = devices.find((one) => one.deviceId === deviceId);
      if (device === undefined) return undefined;
      const changed = change(device);
      if (changed !== device) {
        this.#writePaired(devices.map((one) => (one === device ? changed : one)));
      }
      return changed;
    });
  }

  #writePending(requests: readonly DeviceRequest[]): void {
    this.#write(this.#pendingPath, Object.fromEntries(requests.map((one) => [one.requestId, one])));
  }

  #writePaired(devices: readonly PairedDevice[]): void {
    this.#write(this.#pairedPath, Object.fromEntries(devices.map((one) => [one.deviceId, one])));
  }

  #write(path: string, value: object): void {
    writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
  }

  #change<T>(work: () => T): T {
    ensureDirectory(this.#directory);
    return withLock(join(this.#directory, "devices.lock"), work);
  }
}

/** Leaves out what has to give way to one more request from a network. */
function withRoomFor(network: string, pending: readonly DeviceRequest[]): readonly DeviceRequest[] {
  const of = (one: string): DeviceRequest[] => pending.filter(({ remoteIp }) => networkOf(remoteIp) === one);
  const crowd = of(network).length >= MOST_PENDING_OF_NETWORK ? of(network) : undefined;
  if (crowd === undefined && pending.length < MOST_PENDING) return pending;
  const [oldest] =
    crowd ?? pending.toSorted((a, b) => of(networkOf(b.remoteIp)).length - of(networkOf(a.remoteIp)).length);
  return pending.filter((one) => one !== oldest);
}

/** A device that waits for approval. */
export type DeviceRequest = z.infer<typeof requestSchema>;

/** A device that was approved. It stays on the list when it is revoked, so that it cannot ask again. */
export type PairedDevice = z.infer<typeof pairedSchema>;

/** Returns the role that a device's approval grants in the chat. */
export function grantedTo({ scopes }: Pick<PairedDevice, "scopes">): GrantedRole {
  return scopes.includes(OPERATOR_SCOPE) ? "operator" : "person";
}

/** Adds the operator's scope if it was granted. One that the device asked for itself is dropped. */
function scopesFor(scopes: readonly string[], granted: GrantedRole): string[] {
  const others = scopes.filter((scope) => scope !== OPERATOR_SCOPE);
  return granted === "operator" ? [...others, OPERATOR_SCOPE] : others;
}

/** Tells whether a device may still be used: it has a token that was not revoked. */
export function isUsable({ tokens }: PairedDevice): boolean {
  return Object.values(tokens).some(({ revokedAtMs }) => revokedAtMs === undefined);
}
