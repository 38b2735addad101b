import type { GrantedRole } from "../contract/config/rights.ts";

/** A sender that waits for approval. Times are ISO 8601; `meta` is what the platform tells of the person. */
export interface PairingRequest {
  id: string;
  code: string;
  createdAt: string;
  lastSeenAt: string;
  meta?: Record<string, string> | undefined;
}

/** A request that is moved to another store. */
export type MovedRequest = Omit<PairingRequest, "lastSeenAt">;

/** The senders of one platform that wait for approval, and those that have it. */
export interface PairingList {
  /** In the order in which they asked. Includes expired ones. */
  readonly requests: readonly PairingRequest[];
  /** Ids of the approved senders. */
  readonly allowFrom: readonly string[];
  /** Ids of senders whose approval grants an operator's rights. Those without an approval count for nothing. */
  readonly operators: readonly string[];
}

/**
 * The lists that a change replaces. A store that cannot write them at once writes `operators` first, then `allowFrom`,
 * then `requests`. A crash in between leaves a sender who is not let in, never one with the rights of an earlier
 * approval, and a request that can be settled again.
 */
export type PairingChange = Partial<PairingList>;

/** Result of a rule that changes the lists. */
export interface PairingChanged {
  change: PairingChange;
}

/** A request, as it is after the change or as it was removed by it. */
export interface RequestChanged extends PairingChanged {
  request: PairingRequest;
}

type Approvals = Omit<PairingList, "requests">;
type Requests = Pick<PairingList, "requests">;

/** Sources of a request. */
interface PairingSources {
  /** Milliseconds since the epoch. */
  now: number;
  /** Returns cryptographically random bytes. Default: Web Crypto's. */
  randomBytes?(length: number): Uint8Array;
}

/** Letters that cannot be mistaken for a digit or for each other when a code is read out: no I, L, O. */
const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 8;
const FAIR_BYTES = 256 - (256 % LETTERS.length);

/** A forgotten code must not grant access later. */
const LIFE_MS = 3_600_000;
/** One place an account, so many in all: strangers cannot fill the store, and the operator's list stays readable. */
const MOST_PENDING = 20;
/** A place is not taken away before this time, in which an operator can find and approve it. */
const KEPT_MS = 10 * 60_000;

/** Returns the requests that can be approved, oldest first. */
export function pendingRequests({ requests }: Requests, now: number): PairingRequest[] {
  return requests.filter((request) => ageOf(request, now) < LIFE_MS);
}

/** Returns a request that comes from another store, which does not know when its sender has asked last. */
export function fromOtherStore(request: MovedRequest): PairingRequest {
  return { ...request, lastSeenAt: request.createdAt };
}

/**
 * Returns the requests with those of another store, which keep their codes and their expiry. A sender that is known here
 * keeps the code from here. If there are more than places, the oldest are dropped.
 */
export function mergeRequests(
  list: PairingList,
  moved: readonly MovedRequest[],
  now: number,
): readonly PairingRequest[] {
  const known = new Set(pendingRequests(list, now).map(({ id }) => id));
  const added = moved.filter(({ id }) => !known.has(id));
  const requests = [...list.requests, ...added.map(fromOtherStore)];
  return pendingRequests({ requests }, now)
    .filter(({ id }) => !list.allowFrom.includes(id))
    .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    .slice(-MOST_PENDING);
}

/** Returns the role that a sender's approval grants; `undefined` without an approval. */
export function grantedRole(list: Approvals, id: string): GrantedRole | undefined {
  if (!list.allowFrom.includes(id)) return undefined;
  return list.operators.includes(id) ? "operator" : "person";
}

/** Returns the approved senders whose approval grants an operator's rights. */
export function approvedOperators({ allowFrom, operators }: Approvals): string[] {
  const approved = new Set(allowFrom);
  return operators.filter((id) => approved.has(id));
}

/**
 * Adds a sender's request. A sender that asks again keeps its code, its place and its expiry. If all places are taken,
 * the oldest request is dropped, but not within its first ten minutes.
 *
 * @returns `undefined` if no place is free.
 */
export function requestPairing(
  list: Requests,
  { id, meta = {} }: { id: string; meta?: Record<string, string> },
  { now, randomBytes = webRandomBytes }: PairingSources,
): RequestChanged | undefined {
  const at = new Date(now).toISOString();
  const pending = pendingRequests(list, now);
  const known = pending.find((request) => request.id === id);
  if (known !== undefined) {
    const request = { ...known, lastSeenAt: at, meta: { ...known.meta, ...meta } };
    return { request, change: { requests: pending.map((one) => (one === known ? request : one)) } };
  }
  const isFull = pending.length >= MOST_PENDING;
  const [oldest, ...younger] = pending;
  if (isFull && oldest !== undefined && ageOf(oldest, now) < KEPT_MS) return undefined;
  const request = { id, code: newPairingCode(randomBytes), createdAt: at, lastSeenAt: at, meta };
  return { request, change: { requests: [...(isFull ? younger : pending), request] } };
}

/** Approves the sender of a code, in upper or lower case. Returns `undefined` if no such code is pending. */
export function approvePairing(
  list: PairingList,
  code: string,
  role: GrantedRole,
  now: number,
): RequestChanged | undefined {
  const settled = rejectPairing(list, code, now);
  if (settled === undefined) return undefined;
  const { request, change } = settled;
  return { request, change: { ...approvalOf(list, request.id, role), ...change } };
}

/** Removes the request of a code. Returns `undefined` if no such code is pending. */
export function rejectPairing(list: Requests, code: string, now: number): RequestChanged | undefined {
  const pending = pendingRequests(list, now);
  const wanted = code.trim().toUpperCase();
  const request = pending.find((one) => one.code === wanted);
  return request && { request, change: { requests: pending.filter((one) => one !== request) } };
}

/** Gives a sender a role. Approves it if it is not approved, even if it never asked. */
export function grantRole(list: PairingList, id: string, role: GrantedRole, now: number): PairingChanged {
  const requests = pendingRequests(list, now).filter((one) => one.id !== id);
  return { change: { ...approvalOf(list, id, role), requests } };
}

/** Takes an approved sender's access away. Returns `undefined` if the sender is not approved. */
export function revokeAccess(list: Approvals, id: string): PairingChanged | undefined {
  if (!list.allowFrom.includes(id)) return undefined;
  const allowFrom = list.allowFrom.filter((one) => one !== id);
  return { change: { ...operatorsWith(list, id, false), allowFrom } };
}

/** Access that was taken from a sender, or its request that was rejected. */
export type RevokedAccess = { sender: string; role: GrantedRole } | { request: PairingRequest };

/**
 * Restores what {@link revokeAccess} or {@link rejectPairing} took: a role, or a request with its code and its expiry.
 * Returns `undefined` if the sender was approved since, or the request has expired, its sender has asked again, or no
 * place is free.
 */
export function restoreAccess(
  list: PairingList,
  taken: RevokedAccess,
  now: number,
): PairingChanged | undefined {
  const pending = pendingRequests(list, now);
  const id = "request" in taken ? taken.request.id : taken.sender;
  if (list.allowFrom.includes(id)) return undefined;
  if ("sender" in taken) return grantRole(list, id, taken.role, now);
  const { request } = taken;
  const isIn = pending.some((one) => one.id === id) || pending.length >= MOST_PENDING;
  if (isIn || ageOf(request, now) >= LIFE_MS) return undefined;
  return { change: { requests: [...pending, request].toSorted((a, b) => ageOf(b, now) - ageOf(a, now)) } };
}

function approvalOf(list: Approvals, id: string, role: GrantedRole): PairingChange {
  const allowFrom = [...new Set([...list.allowFrom, id])];
  return { ...operatorsWith(list, id, role === "operator"), allowFrom };
}

function operatorsWith(
  { operators }: Pick<PairingList, "operators">,
  id: string,
  isOne: boolean,
): PairingChange {
  if (operators.includes(id) === isOne) return {};
  return { operators: isOne ? [...operators, id] : operators.filter((one) => one !== id) };
}

function ageOf({ createdAt }: PairingRequest, now: number): number {
  return now - Date.parse(createdAt);
}

/** Returns a pairing code: 8 uppercase letters, about 36 bits. */
function newPairingCode(randomBytes: (length: number) => Uint8Array): string {
  let code = "";
  while (code.length < LENGTH) {
    // A byte from the incomplete last round would make the first letters likelier.
    const [byte = 255] = randomBytes(1);
    if (byte < FAIR_BYTES) code += LETTERS.charAt(byte % LETTERS.length);
  }
  return code;
}

function webRandomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
