import type { R2Bucket } from "@cloudflare/workers-types/index.ts";
import { BUCKET_KEYS, nameGeneration, readGenerationId } from "../contract/backup.ts";
import { StewardError } from "../contract/errors.ts";
import { stateKeys, type TenantId, tenantMark } from "../contract/tenant.ts";
import type { Clock, Notes } from "../edge/ports.ts";
import type { Log } from "../shared/log.ts";
import { parseJson } from "../shared/json.ts";
import { BackupRecord } from "./record.ts";
import { RemoteState, type SupervisorPort } from "./remote-state.ts";
import type { BackupService } from "./service.ts";
import { BucketStore } from "./stores/bucket.ts";

const NOTE = "chatsHere";

interface ChatExportsOptions {
  bucket: R2Bucket;
  ports: SupervisorPort;
  notes: Notes;
  service: Pick<BackupService<unknown>, "whileAwake">;
  /** Container with the shared state, which served every chat before each chat had its own sandbox. */
  container: { readonly running: boolean; readonly restored: boolean; whenDrained(): Promise<void> };
  clock: Clock;
  log: Log;
}

/**
 * Exports a chat's part of the shared state as a backup, which the chat's own sandbox restores at its first start.
 * Every step can be repeated.
 */
export class ChatExports {
  readonly #options: ChatExportsOptions;
  readonly #state: RemoteState;

  constructor(options: ChatExportsOptions) {
    this.#options = options;
    this.#state = new RemoteState(options.ports);
  }

  /**
   * Invalidates the cached list of chats. Call it when the container starts, because the list may then be outdated.
   */
  forget(): void {
    this.#options.notes.write(NOTE, "");
  }

  /**
   * Exports a chat's part of the shared state if that part exists and is not older than the chat's backup. Does not
   * start the container if it is already certain that there is no such part.
   */
  async moveOut(tenant: TenantId): Promise<void> {
    const { bucket, container, service, clock } = this.#options;
    if (await this.#mayHaveData(tenant)) {
      // Wait until the previous version's container has ended: it may still be answering in this chat.
      await container.whenDrained();
      await service.whileAwake(() => this.#export(tenant));
    }
    // Write a marker object, by which `ChatReturns` finds the tenant even without a backup.
    const mark = { version: 1, at: new Date(clock()).toISOString() };
    await bucket.put(tenantMark(tenant), JSON.stringify(mark));
  }

  /**
   * Returns the chats that have a schedule in the shared state or in the config. Starts the container if a shared
   * state exists.
   */
  async scheduled(): Promise<TenantId[]> {
    if (!(await this.hasState())) return [];
    return this.#options.service.whileAwake(async () => (await this.#state.chats()).scheduled);
  }

  async #mayHaveData(tenant: TenantId): Promise<boolean> {
    const chats = parseJson(this.#options.notes.read(NOTE) ?? "");
    return Array.isArray(chats) ? chats.includes(tenant) : this.hasState();
  }

  async hasState(): Promise<boolean> {
    const { bucket, container } = this.#options;
    if (container.running) return true;
    return (await bucket.list({ prefix: BUCKET_KEYS.generations, limit: 1 })).objects.length > 0;
  }

  async #export(tenant: TenantId): Promise<void> {
    const { container, notes, log } = this.#options;
    const run = notes.read("startedAt");
    // Detects a restart: a restarted container has no data at first, and would report no chats.
    const isSame = (): boolean => container.restored && notes.read("startedAt") === run;
    const { tenants, shared, broughtBack } = await this.#state.chats();
    if (!isSame()) throw restartedError();
    // An empty note means that every chat needs an export.
    notes.write(NOTE, shared ? "" : JSON.stringify(tenants));
    if (!shared && !tenants.includes(tenant)) return;
    const store = this.#storeOf(tenant);
    const stored = await store.stored();
    const newest = stored.find(({ published }) => published);
    // Keep the tenant's backup if it is newer than the backup that was last merged into the shared state.
    if (newest !== undefined && newest.id > (broughtBack[tenant] ?? "")) return;
    const epoch = stored[0] === undefined ? 0 : readGenerationId(stored[0].id).epoch;
    const id = nameGeneration({ epoch: epoch + 1, sequence: 0 });
    const manifest = await this.#state.snapshotChat(tenant, id);
    if (!isSame()) throw restartedError();
    try {
      await store.publish(manifest, await this.#state.archive(id));
    } finally {
      await this.#state.discard(id).catch(() => undefined);
    }
    log.info("a chat's data was moved", { tenant, id, ...manifest.counts });
  }

  #storeOf(tenant: TenantId): BucketStore {
    const keys = stateKeys(tenant);
    return new BucketStore({
      ...this.#options,
      keys,
      sharesConfig: true,
      state: this.#state,
      record: new BackupRecord(),
    });
  }
}

function restartedError(): StewardError {
  return new StewardError("gateway_unavailable", "The container that has the chat's data was restarted.");
}
