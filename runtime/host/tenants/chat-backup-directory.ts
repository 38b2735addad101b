import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { approvalsForm, type Approvals, isTenantId, type TenantId } from "../../contract/tenant.ts";
import { BACKUPS_DIRECTORY } from "../../contract/names.ts";
import { ensureDirectory, exists, writeFileAtomic } from "../../process/files.ts";
import { parseJson } from "../../shared/json.ts";

/** Files with notes about a chat, stored next to its backups. */
const NOTES = {
  /** File that exists while the chat's folder may hold data that is in no backup. */
  changed: "changed",
  /** File with the id of the backup from which the chat's folder was restored. */
  placed: "placed",
  /** File with the id of a backup whose restore is in progress. */
  placing: "placing",
} as const;
const APPROVALS_FILE = "approvals.json";
const SERVED_ALL_FILE = "served-all";

/**
 * Backups of a host's chats, and data that is needed after the tenancy changes. Both are stored outside the chats'
 * own folders, which the main process cannot read.
 */
export class ChatBackupDirectory {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = path.join(home, BACKUPS_DIRECTORY, "tenants");
  }

  of(tenant: TenantId): string {
    return path.join(this.#folder, tenant);
  }

  tenants(): TenantId[] {
    return exists(this.#folder) ? readdirSync(this.#folder).filter(isTenantId).sort() : [];
  }

  changed(): TenantId[] {
    return this.tenants().filter((tenant) => this.read(tenant, "changed") !== undefined);
  }

  read(tenant: TenantId, note: keyof typeof NOTES): string | undefined {
    return readText(path.join(this.of(tenant), NOTES[note]));
  }

  note(tenant: TenantId, note: keyof typeof NOTES, value: string | undefined): void {
    const file = path.join(this.of(tenant), NOTES[note]);
    if (value === undefined) return rmSync(file, { force: true });
    ensureDirectory(this.of(tenant));
    writeFileAtomic(file, value);
  }

  /** Approvals that were stored while each chat had its own gateway; `undefined` if there are none. */
  get approvals(): Approvals | undefined {
    const text = readText(path.join(this.#folder, APPROVALS_FILE));
    return approvalsForm.safeParse(parseJson(text ?? "")).data;
  }

  storeApprovals(approvals: Approvals): void {
    this.#write(APPROVALS_FILE, JSON.stringify(approvals));
  }

  /**
   * ISO 8601 time of the last change from one gateway per chat to one for all chats; `undefined` if there was none.
   */
  get servedAllSince(): string | undefined {
    return readText(path.join(this.#folder, SERVED_ALL_FILE));
  }

  servesAll(since: string): void {
    this.#write(SERVED_ALL_FILE, since);
  }

  #write(name: string, text: string): void {
    ensureDirectory(this.#folder);
    writeFileAtomic(path.join(this.#folder, name), text);
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
