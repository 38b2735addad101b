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
 * `credentials/<channel>-operators.json`: approved senders with the role `operator`. Other approved senders have the
 * role `person`.
 */
export const operatorsSchema = z.strictObject({
  version: z.literal(1),
  operators: z.array(z.string().check(z.minLength(1))),
});

interface PairingStoreOptions extends StoreFileOptions {
  /** The data directory. Pairings are stored in its `credentials/` folder. */
  home: string;
  channel: Platform;
}

/**
 * Stores a channel's pending and approved senders, for the gateway and the command line. Changes replace whole
 * files under one lock, so readers need no lock. A corrupt file is set aside and counts as empty, so that nobody
 * is admitted by mistake.
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

  /** Oldest first, without expired ones. */
  pending(): PairingRequest[] {
    return pendingRequests(this.#list(), this.#options.clock());
  }

  approved(): string[] {
    return [...this.#list().allowFrom];
  }

  /** Approved senders with an operator's rights. */
  operators(): string[] {
    return approvedOperators(this.#list());
  }

  /** Returns `undefined` without an approval. */
  granted(id: string): GrantedRole | undefined {
    return grantedRole(this.#list(), id);
  }

  /** Adds an access request, or updates a pending one. Returns `undefined` if the list is full. */
  request(id: string, meta: Record<string, string> = {}): PairingRequest | undefined {
    return this.#change((list, now) => requestPairing(list, { id, meta }, { now }))?.request;
  }

  /** Ignores the code's case. Returns `undefined` if no pending request has the code. */
  approve(code: string, role: GrantedRole = "person"): PairingRequest | undefined {
    return this.#settle((list, now) => approvePairing(list, code, role, now));
  }

  /** Grants a role, even to a sender without a request. */
  grant(id: string, role: GrantedRole): void {
    this.#change((list, now) => grantRole(list, id, role, now));
  }

  /** Returns `undefined` if no pending request has the code. */
  reject(code: string): PairingRequest | undefined {
    return this.#settle((list, now) => rejectPairing(list, code, now));
  }

  /** Revokes a sender's access. Returns false if the sender is not approved. */
  revoke(id: string): boolean {
    return this.#change((list) => revokeAccess(list, id)) !== undefined;
  }

  restore(taken: RevokedAccess): boolean {
    return this.#change((list, now) => restoreAccess(list, taken, now)) !== undefined;
  }

  #settle(decide: Decide<RequestChanged>): PairingRequest | undefined {
    return existsSync(this.#requestsPath) ? this.#change(decide)?.request : undefined;
  }

  /** Returns the channel's lists. Each property reads its file on access. */
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

  // This order is safe in a crash. Write the roles first, so that no approved sender has an outdated role. Write the
  // requests last, so that the change can be repeated.
  #write({ operators, allowFrom, requests }: PairingChange): void {
    if (operators) writeStore(this.#operatorsPath, { operators });
    if (allowFrom) writeStore(this.#approvedPath, { allowFrom });
    if (requests) writeStore(this.#requestsPath, { requests });
  }
}

/** Returns `undefined` for no change. */
type Decide<T> = (list: PairingList, now: number) => T | undefined;

function writeStore(path: string, lists: PairingChange): void {
  writeFileAtomic(path, `${JSON.stringify({ version: 1, ...lists }, null, 2)}\n`);
}

export type PairingStores = (channel: Platform) => PairingStore;

export function pairingStores(options: Omit<PairingStoreOptions, "channel">): PairingStores {
  return (channel) => new PairingStore({ ...options, channel });
}
