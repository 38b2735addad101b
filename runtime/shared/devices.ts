import { networkOf } from "../contract/client.ts";
import type { GrantedRole } from "../contract/config/rights.ts";

/** A browser that asks for the web chat or has it. */
interface Device {
  /** SHA-256 of the public key, in hex. */
  deviceId: string;
  /** The raw Ed25519 key, base64url. */
  publicKey: string;
  /** Name that the device gives itself: a stranger's word until it is approved. */
  displayName: string;
  platform: string;
  role: string;
  scopes: string[];
  remoteIp: string;
}

/** Characters of an id that people read and type; any unique beginning of one is understood. */
export const SHORT_ID = 12;

/** A device that waits for approval. `ts`: milliseconds since the epoch. */
export interface DeviceRequest extends Device {
  requestId: string;
  ts: number;
}

/** A right of a device. Times are milliseconds since the epoch. */
interface DeviceToken {
  token: string;
  scopes: string[];
  createdAtMs: number;
  rotatedAtMs?: number | undefined;
  revokedAtMs?: number | undefined;
  lastUsedAtMs?: number | undefined;
}

/** A device that was approved. It stays on the list when it is revoked, so that it cannot ask again. */
export interface PairedDevice extends Device {
  /** By role. */
  tokens: Record<string, DeviceToken>;
  createdAtMs: number;
  approvedAtMs: number;
}

/** A request that was dropped, or a device whose rights were taken back at a time (milliseconds since the epoch). */
export type TakenDevice = { device: DeviceRequest } | { deviceId: string; at: number };

/** Statement of a device about itself, and its origin. */
export type NewDevice = Pick<Device, "deviceId" | "publicKey" | "displayName" | "platform" | "remoteIp">;

/** Part of a device that its connection needs. */
export type AdmittedDevice = Pick<PairedDevice, "deviceId" | "displayName" | "scopes">;

/** Decision about a device that connects. `late`: its request has expired, or was settled. */
export type DeviceEntry =
  | { kind: "paired"; device: AdmittedDevice }
  | { kind: "asks"; requestId: string }
  | { kind: "revoked" }
  | { kind: "late" };

/** Storage of the lists. */
export interface DeviceLists {
  /** Every request, expired ones too, in the order in which they came. */
  pending(): readonly DeviceRequest[];
  paired(): readonly PairedDevice[];
  writePending(requests: readonly DeviceRequest[]): void;
  writePaired(devices: readonly PairedDevice[]): void;
  /** Runs a change of the lists. No other one runs meanwhile. */
  change<T>(work: () => T): T;
  /** Returns a new random token. */
  token(): string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** A request that was forgotten must not open the door later. */
const LIFE_MS = 5 * 60_000;
/** Strangers cannot fill the store, and the operator's list stays readable. */
const MOST_PENDING = 10;
const MOST_PENDING_OF_NETWORK = 3;
/** Shortest time between two notes of a device's last use. */
const USED_EVERY_MS = 60_000;
/** Longer than a page offers to undo; then a revocation is final. */
const UNDO_MS = 60_000;
/** Access to the web chat, which every device asks for. */
const ACCESS = { role: "chat", scopes: ["chat"] };
/** The scope that grants an operator's rights in the chat. A device without it has a person's. */
const OPERATOR_SCOPE = "operator";

/** The devices that wait for approval, and those that have it. */
export class Devices {
  readonly #lists: DeviceLists;

  constructor(lists: DeviceLists) {
    this.#lists = lists;
  }

  /** The requests that are not older than 5 minutes, the oldest first. */
  pending(): DeviceRequest[] {
    const now = this.#lists.clock();
    return this.#lists.pending().filter(({ ts }) => now - ts < LIFE_MS);
  }

  /** Every device that was approved, revoked ones too. */
  paired(): PairedDevice[] {
    return [...this.#lists.paired()];
  }

  /**
   * Lets a device in that has proven its key, or notes that it asks to be let in.
   *
   * @param known Its request, while it waits for approval. A device whose request was settled or has expired makes a
   * new one only if its user asks for it.
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
    // The device was approved a moment ago: it connects again.
    return request === undefined ? { kind: "late" } : { kind: "asks", requestId: request.requestId };
  }

  /**
   * Notes that a device asks to be let in; one that asks again keeps its request. Where as many as allowed wait, the
   * oldest of the network that has the most is evicted: a stranger locks out only its own network.
   *
   * @returns its request; `undefined` where the device is known already.
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

  /** Approves a request, with a role in the chat. `undefined`: it is not pending any more. */
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

  /**
   * Restores a request that {@link reject} dropped, with its expiry, or the rights that {@link revoke} took back at a
   * time, and no others. False: the request has expired or the device has asked again; the rights are there, or were
   * taken more than a minute ago; or other requests took the place.
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

  /** Notes that a device was used. */
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

  // What follows from the request is written first: a crash in between leaves it pending, to be settled again.
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

/** Leaves out what has to give way to one more request from a network. */
function withRoomFor(network: string, pending: readonly DeviceRequest[]): readonly DeviceRequest[] {
  const of = (one: string): DeviceRequest[] => pending.filter(({ remoteIp }) => networkOf(remoteIp) === one);
  const crowd = of(network).length >= MOST_PENDING_OF_NETWORK ? of(network) : undefined;
  if (crowd === undefined && pending.length < MOST_PENDING) return pending;
  const [oldest] =
    crowd ?? pending.toSorted((a, b) => of(networkOf(b.remoteIp)).length - of(networkOf(a.remoteIp)).length);
  return pending.filter((one) => one !== oldest);
}

/** Adds the operator's scope if it was granted. One that the device asked for itself is dropped. */
function scopesFor(scopes: readonly string[], granted: GrantedRole): string[] {
  const others = scopes.filter((scope) => scope !== OPERATOR_SCOPE);
  return granted === "operator" ? [...others, OPERATOR_SCOPE] : others;
}

/** Returns the role that a device's approval grants in the chat. */
export function grantedTo({ scopes }: Pick<PairedDevice, "scopes">): GrantedRole {
  return scopes.includes(OPERATOR_SCOPE) ? "operator" : "person";
}

/** Returns true for a device that may still be used: it has a token that was not revoked. */
export function isUsable({ tokens }: { tokens: Record<string, Pick<DeviceToken, "revokedAtMs">> }): boolean {
  return Object.values(tokens).some(({ revokedAtMs }) => revokedAtMs === undefined);
}
