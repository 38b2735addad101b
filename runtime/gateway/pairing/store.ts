import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import type { GrantedRole } from "../../contract/config/rights.ts";
import type { Platform } from "../../contract/delivery.ts";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import { withLock } from "../../process/lock.ts";
import {
  approvedOperators,
  approvePairing,
  grantedRole,
  grantRole,
  type PairingChange,
  type PairingChanged,
  type PairingList,
  type PairingRequest,
  pendingRequests,
  rejectPairing,
  type RequestChanged,
  requestPairing,
  restoreAccess,
  revokeAccess,
  type RevokedAccess,
} from "../../shared/pairing-list.ts";
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

  /** Returns the requests that can be approved, oldest first. */
  pending(): PairingRequest[] {
    return pendingRequests(this.#list(), this.#options.clock());
  }

  /** Returns the ids of the approved senders. */
  approved(): string[] {
    return [...this.#list().allowFrom];
  }

  /** Returns the ids of the approved senders whose approval grants an operator's rights. */
  operators(): string[] {
    return approvedOperators(this.#list());
  }

  /** Returns the role that a sender's approval grants; `undefined` without an approval. */
  granted(id: string): GrantedRole | undefined {
    return grantedRole(this.#list(), id);
  }

  /**
   * Notes that a sender asks to be let in, by the rules of `requestPairing`.
   *
   * @returns its request; `undefined` if no place is free.
   */
  request(id: string, meta: Record<string, string> = {}): PairingRequest | undefined {
    return this.#change((list, now) => requestPairing(list, { id, meta }, { now }))?.request;
  }

  /** Approves the sender of a code, in upper or lower case. Returns `undefined` if no such code is pending. */
  approve(code: string, role: GrantedRole = "person"): PairingRequest | undefined {
    return this.#settle((list, now) => approvePairing(list, code, role, now));
  }

  /** Gives a sender a role. Approves it if it is not approved, even if it never asked. */
  grant(id: string, role: GrantedRole): void {
    this.#change((list, now) => grantRole(list, id, role, now));
  }

  /** Removes the request of a code. Returns `undefined` if no such code is pending. */
  reject(code: string): PairingRequest | undefined {
    return this.#settle((list, now) => rejectPairing(list, code, now));
  }

  /** Takes an approved sender's access away. Returns false if the sender is not approved. */
  revoke(id: string): boolean {
    return this.#change((list) => revokeAccess(list, id)) !== undefined;
  }

  /** See {@link restoreAccess}. */
  restore(taken: RevokedAccess): boolean {
    return this.#change((list, now) => restoreAccess(list, taken, now)) !== undefined;
  }

  #settle(decide: Decide<RequestChanged>): PairingRequest | undefined {
    return existsSync(this.#requestsPath) ? this.#change(decide)?.request : undefined;
  }

  /** Returns the lists. Each is read when it is needed, and each time. */
  #list(): PairingList {
    const options = this.#options;
    const [requests, approved, operators] = [this.#requestsPath, this.#approvedPath, this.#operatorsPath];
    return {
      get requests() {
        return readStoreFile(requests, requestsSchema, options)?.requests ?? [];
      },
      get allowFrom() {
        return readStoreFile(approved, approvedSchema, options)?.allowFrom ?? [];
      },
      get operators() {
        return readStoreFile(operators, operatorsSchema, options)?.operators ?? [];
      },
    };
  }

  #change<T extends PairingChanged>(decide: Decide<T>): T | undefined {
    ensureDirectory(this.#directory);
    return withLock(join(this.#directory, `${this.#options.channel}.lock`), () => {
      const decided = decide(this.#list(), this.#options.clock());
      if (decided !== undefined) this.#write(decided.change);
      return decided;
    });
  }

  // In this order. The role first: a crash in between leaves a sender who is not let in, not one with rights of an
  // earlier approval. The request last: a crash in between leaves it pending, to be settled again.
  #write({ operators, allowFrom, requests }: PairingChange): void {
    if (operators) writeStore(this.#operatorsPath, { operators });
    if (allowFrom) writeStore(this.#approvedPath, { allowFrom });
    if (requests) writeStore(this.#requestsPath, { requests });
  }
}

/** Decides on a change; `undefined` for none. */
type Decide<T> = (list: PairingList, now: number) => T | undefined;

function writeStore(path: string, lists: PairingChange): void {
  writeFileAtomic(path, `${JSON.stringify({ version: 1, ...lists }, null, 2)}\n`);
}

/** The pairing store of a channel. */
export type PairingStores = (channel: Platform) => PairingStore;

/** The pairing stores of a data directory. */
export function pairingStores(options: Omit<PairingStoreOptions, "channel">): PairingStores {
  return (channel) => new PairingStore({ ...options, channel });
}
