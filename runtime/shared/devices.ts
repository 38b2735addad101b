import { networkOf } from "../contract/client.ts";
import type { GrantedRole } from "../contract/config/rights.ts";

/** A browser that has access to the web chat or has requested it. */
interface Device {
  /** SHA-256 of the public key, in hex. */
  deviceId: string;
  /** The raw Ed25519 key, base64url. */
  publicKey: string;
  /** Name that the device reports. Untrusted until the device is approved. */
  displayName: string;
  platform: string;
  role: string;
  scopes: string[];
  remoteIp: string;
}

/** Length of a shortened id. Commands accept any unique prefix of an id. */
export const SHORT_ID = 12;

/** A device that waits for approval. `ts`: milliseconds since the epoch. */
export interface DeviceRequest extends Device {
  requestId: string;
  ts: number;
}

/** Times are milliseconds since the epoch. */
interface DeviceToken {
  token: string;
  scopes: string[];
  createdAtMs: number;
  rotatedAtMs?: number | undefined;
  revokedAtMs?: number | undefined;
  lastUsedAtMs?: number | undefined;
}

/** A device that was approved and may since have been revoked. */
export interface PairedDevice extends Device {
  /** By role. */
  tokens: Record<string, DeviceToken>;
  createdAtMs: number;
  approvedAtMs: number;
}

/** A removal to undo: a rejected request, or a device revoked at `at` (milliseconds since the epoch). */
export type TakenDevice = { device: DeviceRequest } | { deviceId: string; at: number };

/** Self-description of a device, and its address. */
export type NewDevice = Pick<Device, "deviceId" | "publicKey" | "displayName" | "platform" | "remoteIp">;

export type AdmittedDevice = Pick<PairedDevice, "deviceId" | "displayName" | "scopes">;

/** Decision about a connecting device. `late`: its request has expired, been dropped or already been decided. */
export type DeviceEntry =
  | { kind: "paired"; device: AdmittedDevice }
  | { kind: "asks"; requestId: string }
  | { kind: "revoked" }
  | { kind: "late" };

export interface DeviceLists {
  /** Oldest first, including expired requests. */
  pending(): readonly DeviceRequest[];
  paired(): readonly PairedDevice[];
  writePending(requests: readonly DeviceRequest[]): void;
  writePaired(devices: readonly PairedDevice[]): void;
  /** Runs `work`, which changes the device lists. Prevents other changes until `work` returns. */
  change<T>(work: () => T): T;
  token(): string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Milliseconds until a request expires. Requests expire so that nobody later approves a forgotten one. */
const LIFE_MS = 5 * 60_000;
/** Maximum number of pending requests, so that strangers cannot fill the store. */
const MAX_PENDING = 10;
const MAX_PENDING_OF_NETWORK = 3;
/** Minimum interval between updates of a device's last use, in milliseconds. */
const USED_EVERY_MS = 60_000;
/** Milliseconds during which a revocation can be undone. */
const UNDO_MS = 60_000;
const ACCESS = { role: "chat", scopes: ["chat"] };
/** Scope that gives a device an operator's rights in the chat. */
const OPERATOR_SCOPE = "operator";

export class Devices {
  readonly #lists: DeviceLists;

  constructor(lists: DeviceLists) {
    this.#lists = lists;
  }

  /** Returns the requests of the last 5 minutes, oldest first. */
  pending(): DeviceRequest[] {
    const now = this.#lists.clock();
    return this.#lists.pending().filter(({ ts }) => now - ts < LIFE_MS);
  }

  paired(): PairedDevice[] {
    return [...this.#lists.paired()];
  }

  /**
   * Decides whether to admit a device that has proved possession of its key. Records a request if the device is
   * neither approved nor revoked.
   *
   * @param known Id of the device's request. If that request has expired or was rejected, the result is `late`.
   */
  enter(device: NewDevice, known?: string): DeviceEntry {
    const paired = this.#lists.paired().find(({ deviceId }) => deviceId === device.deviceId);
    if (paired !== undefined)
      return isUsable(paired) ? { kind: "paired", device: paired } : { kind: "revoked" };
    if (known !== undefined) {
      const waits = this.pending().some(({ requestId }) => requestId === known);
      return waits ? { kind: "asks", requestId: known } : { kind: "late" };
    }
    const request = this.request(device);
    // The device was approved or revoked a moment ago, so no request was recorded.
    return request === undefined ? { kind: "late" } : { kind: "asks", requestId: request.requestId };
  }

  /**
   * Records a request for access. A device that asks again keeps its request. If there is no room, drops an older
   * request.
   *
   * @returns The request, or `undefined` if the device is already approved or revoked.
   */
  request(device: NewDevice): DeviceRequest | undefined {
    return this.#lists.change(() => {
      if (this.#lists.paired().some(({ deviceId }) => deviceId === device.deviceId)) return undefined;
      const pending = this.pending();
      const known = pending.find(({ deviceId }) => deviceId === device.deviceId);
      if (known !== undefined) return known;
      const request = { requestId: crypto.randomUUID(), ...device, ...ACCESS, ts: this.#lists.clock() };
      this.#lists.writePending([...withRoomFor(networkOf(device.remoteIp), pending), request]);
      return request;
    });
  }

  /** Returns `undefined` if the request is no longer pending. */
  approve(requestId: string, granted: GrantedRole = "person"): PairedDevice | undefined {
    return this.#settle(requestId, (request) => {
      const { deviceId, publicKey, displayName, platform, role, remoteIp, ts } = request;
      const scopes = scopesFor(request.scopes, granted);
      const now = this.#lists.clock();
      const token = { token: this.#lists.token(), scopes, createdAtMs: now };
      const device = { deviceId, publicKey, displayName, platform, role, scopes, remoteIp };
      const paired = { ...device, tokens: { [role]: token }, createdAtMs: ts, approvedAtMs: now };
      this.#lists.writePaired([...this.paired(), paired]);
      return paired;
    });
  }

  /** Drops a request. Returns `undefined` if it is no longer pending. */
  reject(requestId: string): DeviceRequest | undefined {
    return this.#settle(requestId, (request) => request);
  }

  /** Returns `undefined` if the device is unknown or revoked. */
  grant(deviceId: string, granted: GrantedRole): PairedDevice | undefined {
    const device = this.#edit(deviceId, (one) => {
      const scopes = scopesFor(one.scopes, granted);
      const tokens = Object.entries(one.tokens).map(([role, token]) => [role, { ...token, scopes }]);
      return isUsable(one) ? { ...one, scopes, tokens: Object.fromEntries(tokens) } : one;
    });
    return device !== undefined && isUsable(device) ? device : undefined;
  }

  /** Revokes every token of a device. Returns `undefined` if the device is unknown. */
  revoke(deviceId: string): PairedDevice | undefined {
    return this.#edit(deviceId, (device) => this.#mark(device, "revokedAtMs"));
  }

  /**
   * Undoes {@link reject} or {@link revoke}. A restored request expires at its original time.
   *
   * @returns False if the removal is not found or too old, if the device has asked again, or if the request list is
   * full.
   */
  restore(taken: TakenDevice): boolean {
    if ("at" in taken) return this.#readmit(taken.deviceId, taken.at);
    const { device } = taken;
    return this.#lists.change(() => {
      const [pending, now] = [this.pending(), this.#lists.clock()];
      const isKnown = [...pending, ...this.paired()].some(({ deviceId }) => deviceId === device.deviceId);
      const hasRoom = withRoomFor(networkOf(device.remoteIp), pending) === pending;
      if (isKnown || !hasRoom || now - device.ts >= LIFE_MS) return false;
      this.#lists.writePending([...pending, device].toSorted((a, b) => a.ts - b.ts));
      return true;
    });
  }

  #readmit(id: string, revokedAt: number): boolean {
    let isBack = false;
    this.#edit(id, (one) => {
      isBack =
        this.#lists.clock() - revokedAt <= UNDO_MS &&
        Object.values(one.tokens).some(({ revokedAtMs }) => revokedAtMs === revokedAt);
      const tokens = Object.entries(one.tokens).map(([role, { revokedAtMs, ...token }]) => [
        role,
        revokedAtMs === undefined || revokedAtMs === revokedAt ? token : { ...token, revokedAtMs },
      ]);
      return isBack ? { ...one, tokens: Object.fromEntries(tokens) } : one;
    });
    return isBack;
  }

  used(deviceId: string): void {
    this.#edit(deviceId, (device) => {
      const last = Object.values(device.tokens).map(({ lastUsedAtMs }) => lastUsedAtMs ?? 0);
      const recent = this.#lists.clock() - Math.max(0, ...last) < USED_EVERY_MS;
      return recent || !isUsable(device) ? device : this.#mark(device, "lastUsedAtMs");
    });
  }

  #mark(device: PairedDevice, field: "revokedAtMs" | "lastUsedAtMs"): PairedDevice {
    const now = this.#lists.clock();
    const tokens = Object.entries(device.tokens).map(([role, token]) =>
      token.revokedAtMs === undefined ? [role, { ...token, [field]: now }] : [role, token],
    );
    return { ...device, tokens: Object.fromEntries(tokens) };
  }

  // Remove the request last, so that it is still pending after a crash.
  #settle<T>(requestId: string, carryOut: (request: DeviceRequest) => T): T | undefined {
    return this.#lists.change(() => {
      const pending = this.pending();
      const request = pending.find((one) => one.requestId === requestId);
      if (request === undefined) return undefined;
      const result = carryOut(request);
      this.#lists.writePending(pending.filter((one) => one !== request));
      return result;
    });
  }

  #edit(deviceId: string, change: (device: PairedDevice) => PairedDevice): PairedDevice | undefined {
    return this.#lists.change(() => {
      const devices = this.paired();
      const device = devices.find((one) => one.deviceId === deviceId);
      if (device === undefined) return undefined;
      const changed = change(device);
      if (changed !== device) {
        this.#lists.writePaired(devices.map((one) => (one === device ? changed : one)));
      }
      return changed;
    });
  }
}

/**
 * Returns the pending requests after making room for another from `network`. If `network` already has its maximum
 * number of requests, drops its oldest request. Otherwise, if the list is full, drops the oldest request of the
 * network with the most requests.
 */
function withRoomFor(network: string, pending: readonly DeviceRequest[]): readonly DeviceRequest[] {
  const of = (one: string): DeviceRequest[] => pending.filter(({ remoteIp }) => networkOf(remoteIp) === one);
  const crowd = of(network).length >= MAX_PENDING_OF_NETWORK ? of(network) : undefined;
  if (crowd === undefined && pending.length < MAX_PENDING) return pending;
  const [oldest] =
    crowd ?? pending.toSorted((a, b) => of(networkOf(b.remoteIp)).length - of(networkOf(a.remoteIp)).length);
  return pending.filter((one) => one !== oldest);
}

/** Returns the scopes for a role. Discards an operator scope that the device requested itself. */
function scopesFor(scopes: readonly string[], granted: GrantedRole): string[] {
  const others = scopes.filter((scope) => scope !== OPERATOR_SCOPE);
  return granted === "operator" ? [...others, OPERATOR_SCOPE] : others;
}

export function grantedTo({ scopes }: Pick<PairedDevice, "scopes">): GrantedRole {
  return scopes.includes(OPERATOR_SCOPE) ? "operator" : "person";
}

export function isUsable({ tokens }: { tokens: Record<string, Pick<DeviceToken, "revokedAtMs">> }): boolean {
  return Object.values(tokens).some(({ revokedAtMs }) => revokedAtMs === undefined);
}
