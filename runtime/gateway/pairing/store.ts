import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import type { GrantedRole } from "../../contract/config/rights.ts";
import type { Platform } from "../../contract/delivery.ts";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import { withLock } from "../../process/lock.ts";
import { randomBytes } from "../../process/random.ts";
import { readStoreFile, type StoreFileOptions } from "../store-file.ts";

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

/**
 * `credentials/<channel>-operators.json`: the approved senders whose approval grants an operator's rights. Apart from the
 * approvals, whose form other programs and earlier versions read. An approved sender that is not listed has a person's
 * rights.
 */
export const operatorsSchema = z.strictObject({
  version: z.literal(1),
  operators: z.array(z.string().check(z.minLength(1))),
});

/** Letters that cannot be mistaken for a digit or for each other when a code is read out: no I, L, O. */
const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 8;
const FAIR_BYTES = 256 - (256 % LETTERS.length);

/** A code that was forgotten must not open the door later. */
const LIFE_MS = 3_600_000;
/** One place an account, so many in all: strangers cannot fill the store, and the operator's list stays readable. */
const MOST_PENDING = 20;
/** A place is not taken away before this time, in which an operator can find and approve it. */
const KEPT_MS = 10 * 60_000;

/** Dependencies of a pairing store. */
interface PairingStoreOptions extends StoreFileOptions {
  /** The data directory; the stores are in its `credentials/`. */
  home: string;
  channel: Platform;
}

/**
 * Store of the senders that wait for approval on a channel, and of those that have it. Gateway and command line use it side by side:
 * every change reads, changes and replaces the files under one lock; a reader needs none, since a
 * file is replaced as a whole. A file that cannot be read is set aside and counts as empty, so nobody
 * is let in by mistake.
 */
export class PairingStore {
  readonly #options: PairingStoreOptions;
  readonly #directory: string;
  readonly #requestsPath: string;
  readonly #approvedPath: string;
  readonly #operatorsPath: string;

  constructor(options: PairingStoreOptions) {
    this.#options = options;
    this.#directory = join(options.home, "credentials");
    this.#requestsPath = join(this.#directory, `${options.channel}-pairing.json`);
    this.#approvedPath = join(this.#directory, `${options.channel}-allowFrom.json`);
    this.#operatorsPath = join(this.#directory, `${options.channel}-operators.json`);
  }

  /** Requests that can be approved, oldest first. */
  pending(): PairingRequest[] {
    return this.#alive(readStoreFile(this.#requestsPath, requestsSchema, this.#options)?.requests ?? []);
  }

  /** Ids of the approved senders. */
  approved(): string[] {
    return readStoreFile(this.#approvedPath, approvedSchema, this.#options)?.allowFrom ?? [];
  }

  /** Ids of the approved senders whose approval grants an operator's rights. */
  operators(): string[] {
    const approved = new Set(this.approved());
    return this.#operators().filter((id) => approved.has(id));
  }

  /** Returns the role that a sender's approval grants; `undefined` without an approval. */
  granted(id: string): GrantedRole | undefined {
    if (!this.approved().includes(id)) return undefined;
    return this.#operators().includes(id) ? "operator" : "person";
  }

  #operators(): string[] {
    return readStoreFile(this.#operatorsPath, operatorsSchema, this.#options)?.operators ?? [];
  }

  /**
   * Notes that a sender asks to be let in. One that asks again keeps its code and its hour. Where all places are taken,
   * the oldest gives way, but not within its first ten minutes.
   *
   * @returns its request; `undefined` where no place is free and none gives way.
   */
  request(id: string, meta: Record<string, string> = {}): PairingRequest | undefined {
    return this.#change(() => {
      const now = new Date(this.#options.clock()).toISOString();
      const pending = this.pending();
      const known = pending.find((request) => request.id === id);
      const [oldest, ...younger] = pending;
      const isFull = known === undefined && pending.length >= MOST_PENDING;
      const isKept = oldest !== undefined && this.#options.clock() - Date.parse(oldest.createdAt) < KEPT_MS;
      if (isFull && isKept) return undefined;
      const others = isFull ? younger : pending;
      const request: PairingRequest = known
        ? { ...known, lastSeenAt: now, meta: { ...known.meta, ...meta } }
        : { id, code: newPairingCode(), createdAt: now, lastSeenAt: now, meta };
      this.#writeRequests(
        known ? pending.map((one) => (one === known ? request : one)) : [...others, request],
      );
      return request;
    });
  }

  /** Approves the sender of a code, in whatever case it was typed. `undefined`: no such code is pending. */
  approve(code: string, role: GrantedRole = "person"): PairingRequest | undefined {
    return this.#settle(code, ({ id }) => this.#approve(id, role));
  }

  /** Gives a sender a role: an approved one from now on, any other as an approval, also if it never asked. */
  grant(id: string, role: GrantedRole): void {
    this.#change(() => {
      this.#approve(id, role);
      this.#writeRequests(this.pending().filter((one) => one.id !== id));
    });
  }

  // The role first: a crash in between leaves a sender who is not let in, not one with rights of an earlier approval.
  #approve(id: string, role: GrantedRole): void {
    this.#writeOperators(id, role === "operator");
    const allowFrom = [...new Set([...this.approved(), id])];
    this.#write(this.#approvedPath, { version: 1, allowFrom });
  }

  #writeOperators(id: string, isOne: boolean): void {
    const before = this.#operators();
    if (before.includes(id) === isOne) return;
    const operators = isOne ? [...before, id] : before.filter((one) => one !== id);
    this.#write(this.#operatorsPath, { version: 1, operators });
  }

  /** Drops the request of a code. `undefined`: no such code is pending. */
  reject(code: string): PairingRequest | undefined {
    return this.#settle(code, () => undefined);
  }

  /** Takes an approved sender's access away. False: the sender is not approved. */
  revoke(id: string): boolean {
    return this.#change(() => {
      const approved = this.approved();
      if (!approved.includes(id)) return false;
      this.#writeOperators(id, false);
      this.#write(this.#approvedPath, { version: 1, allowFrom: approved.filter((one) => one !== id) });
      return true;
    });
  }

  // What follows from the request is written first: a crash in between leaves it pending, to be settled again.
  #settle(code: string, carryOut: (request: PairingRequest) => void): PairingRequest | undefined {
    if (!existsSync(this.#requestsPath)) return undefined;
    return this.#change(() => {
      const pending = this.pending();
      const wanted = code.trim().toUpperCase();
      const request = pending.find((one) => one.code === wanted);
      if (request === undefined) return undefined;
      carryOut(request);
      this.#writeRequests(pending.filter((one) => one !== request));
      return request;
    });
  }

  #alive(requests: readonly PairingRequest[]): PairingRequest[] {
    const now = this.#options.clock();
    return requests.filter(({ createdAt }) => now - Date.parse(createdAt) < LIFE_MS);
  }

  #writeRequests(requests: PairingRequest[]): void {
    this.#write(this.#requestsPath, { version: 1, requests });
  }

  #write(path: string, value: object): void {
    writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
  }

  #change<T>(work: () => T): T {
    ensureDirectory(this.#directory);
    return withLock(join(this.#directory, `${this.#options.channel}.lock`), work);
  }
}

/** A pairing code: 8 uppercase letters, about 36 bits from the cryptographic source. */
function newPairingCode(): string {
  let code = "";
  while (code.length < LENGTH) {
    // A byte from the incomplete last round would make the first letters likelier.
    const [byte = 255] = randomBytes(1);
    if (byte < FAIR_BYTES) code += LETTERS.charAt(byte % LETTERS.length);
  }
  return code;
}

/** The pairing store of a channel. */
export type PairingStores = (channel: Platform) => PairingStore;

/** The pairing stores of a data directory. */
export function pairingStores(options: Omit<PairingStoreOptions, "channel">): PairingStores {
  return (channel) => new PairingStore({ ...options, channel });
}

/** A sender that waits for approval. Times are ISO 8601; `meta` is what the platform tells of the person. */
export type PairingRequest = z.infer<typeof requestSchema>;
