import type { GrantedRole } from "../contract/config/rights.ts";

/** A sender who waits for approval. Times are ISO 8601. `meta` is what the platform reports about the person. */
export interface PairingRequest {
  id: string;
  code: string;
  createdAt: string;
  lastSeenAt: string;
  meta?: Record<string, string> | undefined;
}

export type MovedRequest = Omit<PairingRequest, "lastSeenAt">;

export interface PairingList {
  /** Oldest first, including expired requests. */
  readonly requests: readonly PairingRequest[];
  readonly allowFrom: readonly string[];
  /** Senders approved as operators. Ids missing from `allowFrom` have no effect. */
  readonly operators: readonly string[];
}

/**
 * Lists that a change replaces. A store without transactions must write `operators` first, then `allowFrom`, then
 * `requests`. Otherwise, if a newly approved person is still in `operators` from a previous approval, a crash between
 * two writes could make that person an operator again.
 */
export type PairingChange = Partial<PairingList>;

export interface PairingChanged {
  change: PairingChange;
}

/** `request` is the changed request or, after a removal, the removed request. */
export interface RequestChanged extends PairingChanged {
  request: PairingRequest;
}

type Approvals = Omit<PairingList, "requests">;
type Requests = Pick<PairingList, "requests">;

interface PairingSources {
  /** Milliseconds since the epoch. */
  now: number;
  /** Returns cryptographically random bytes. Default: Web Crypto. */
  randomBytes?(length: number): Uint8Array;
}

/** Letters that cannot be confused with a digit or each other: no I, L, O. */
const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 8;
const FAIR_BYTES = 256 - (256 % LETTERS.length);

/** Milliseconds until a code expires, so that a forgotten code cannot grant access later. */
const LIFE_MS = 3_600_000;
/** Maximum number of pending requests, so that strangers cannot fill the store. */
const MAX_PENDING = 20;
/** Minimum age in milliseconds at which a full list may drop a request, so that the operator has time to approve it. */
const KEPT_MS = 10 * 60_000;

/** Returns the unexpired requests, oldest first. */
export function pendingRequests({ requests }: Requests, now: number): PairingRequest[] {
  return requests.filter((request) => ageOf(request, now) < LIFE_MS);
}

/** Converts a request from another store. Other stores do not record `lastSeenAt`, so the creation time is used. */
export function fromOtherStore(request: MovedRequest): PairingRequest {
  return { ...request, lastSeenAt: request.createdAt };
}

/**
 * Returns the pending requests of `list` together with those of another store, `moved`. If a sender has a pending
 * request in `list`, leaves out that sender's requests in `moved`. Also leaves out the requests of senders who are
 * already approved in `list`. If there are more than 20 requests, drops the oldest requests.
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
    .slice(-MAX_PENDING);
}

export function grantedRole(list: Approvals, id: string): GrantedRole | undefined {
  if (!list.allowFrom.includes(id)) return undefined;
  return list.operators.includes(id) ? "operator" : "person";
}

export function approvedOperators({ allowFrom, operators }: Approvals): string[] {
  const approved = new Set(allowFrom);
  return operators.filter((id) => approved.has(id));
}

/**
 * Adds a sender's request. A repeated request keeps its code, position and expiry. A full list drops its oldest
 * request if that request is at least ten minutes old.
 *
 * @returns `undefined` if there is no room.
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
  const isFull = pending.length >= MAX_PENDING;
  const [oldest, ...younger] = pending;
  if (isFull && oldest !== undefined && ageOf(oldest, now) < KEPT_MS) return undefined;
  const request = { id, code: newPairingCode(randomBytes), createdAt: at, lastSeenAt: at, meta };
  return { request, change: { requests: [...(isFull ? younger : pending), request] } };
}

/** Approves the sender to whom a pairing code was issued. Returns `undefined` if the code is not pending. */
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

/** Returns `undefined` if the code is not pending. */
export function rejectPairing(list: Requests, code: string, now: number): RequestChanged | undefined {
  const pending = pendingRequests(list, now);
  const wanted = code.trim().toUpperCase();
  const request = pending.find((one) => one.code === wanted);
  return request && { request, change: { requests: pending.filter((one) => one !== request) } };
}

/** Gives a sender a role. Also approves senders who never asked. */
export function grantRole(list: PairingList, id: string, role: GrantedRole, now: number): PairingChanged {
  const requests = pendingRequests(list, now).filter((one) => one.id !== id);
  return { change: { ...approvalOf(list, id, role), requests } };
}

/** Removes a sender's approval. Returns `undefined` if the sender is not approved. */
export function revokeAccess(list: Approvals, id: string): PairingChanged | undefined {
  if (!list.allowFrom.includes(id)) return undefined;
  const allowFrom = list.allowFrom.filter((one) => one !== id);
  return { change: { ...operatorsWith(list, id, false), allowFrom } };
}

/** Input of {@link restoreAccess}: a revoked approval or a rejected request. */
export type RevokedAccess = { sender: string; role: GrantedRole } | { request: PairingRequest };

/**
 * Undoes {@link revokeAccess} or {@link rejectPairing}. A request keeps its code and expiry. Returns `undefined` if
 * the sender has been approved or has asked again, if the request has expired, or if the list is full.
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
  const isIn = pending.some((one) => one.id === id) || pending.length >= MAX_PENDING;
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
    // Discard values of `FAIR_BYTES` and above, because they would favor the first letters.
    const [byte = 255] = randomBytes(1);
    if (byte < FAIR_BYTES) code += LETTERS.charAt(byte % LETTERS.length);
  }
  return code;
}

function webRandomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
