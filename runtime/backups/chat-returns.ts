import type { R2Bucket } from "@cloudflare/workers-types/index.ts";
import { GENERATION_FILES } from "../contract/backup.ts";
import { StewardError } from "../contract/errors.ts";
import {
  APPROVALS_KEY,
  approvalsForm,
  isTenantId,
  stateKeys,
  type TenantId,
  tenantMark,
  TENANTS_PREFIX,
} from "../contract/tenant.ts";
import type { Clock } from "../edge/ports.ts";
import { parseJson } from "../shared/json.ts";
import type { Log } from "../shared/log.ts";
import { BackupRecord } from "./record.ts";
import { RemoteState, type SupervisorPort } from "./remote-state.ts";
import { BucketStore } from "./stores/bucket.ts";

/** Tenants that are handed over concurrently. */
const AT_ONCE = 10;

/** Id of each tenant's newest backup; an empty string if there is none. */
type Found = ReadonlyMap<TenantId, string>;

interface ChatReturnsOptions {
  bucket: R2Bucket;
  ports: SupervisorPort;
  /** Ends a tenant's container after a final backup. */
  handOver(tenant: TenantId): Promise<void>;
  clock: Clock;
  log: Log;
}

/**
 * Merges chats that had their own sandboxes back into the shared state of all chats. The shared state records each
 * merge, so an interrupted run continues at the next start.
 */
export class ChatReturns {
  readonly #options: ChatReturnsOptions;
  readonly #state: RemoteState;

  constructor(options: ChatReturnsOptions) {
    this.#options = options;
    this.#state = new RemoteState(options.ports);
  }

  /** Lists the tenants that have had their own sandboxes. Starts no container. */
  async find(): Promise<Found> {
    const { bucket } = this.#options;
    const found = new Map<TenantId, string>();
    let cursor: string | undefined;
    do {
      const page = await bucket.list({ prefix: TENANTS_PREFIX, ...(cursor && { cursor }) });
      for (const { key } of page.objects) noteKey(found, key);
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    return found;
  }

  /** Merges the tenants' backups that the shared state does not contain yet. The gateway must not be running. */
  async mergeAll(found: Found): Promise<void> {
    const { broughtBack } = await this.#state.chats();
    const newer = [...found].filter(([tenant, id]) => id === "" || id > (broughtBack[tenant] ?? ""));
    for (let first = 0; first < newer.length; first += AT_ONCE)
      await Promise.all(newer.slice(first, first + AT_ONCE).map(([tenant]) => this.#handOver(tenant)));
    for (const [tenant] of newer) await this.#merge(tenant, broughtBack[tenant] ?? "");
    const stored = await this.#options.bucket.get(APPROVALS_KEY);
    const { data } = approvalsForm.safeParse(parseJson((await stored?.text()) ?? ""));
    if (data !== undefined) await this.#state.replaceApprovals(data);
  }

  // If the handover fails, only log the error, so that the other chats are not blocked.
  async #handOver(tenant: TenantId): Promise<void> {
    const { handOver, log } = this.#options;
    await handOver(tenant).catch((error: unknown) =>
      log.error("a chat's sandbox could not be stopped", { tenant, error: String(error) }),
    );
  }

  /**
   * Merges a tenant's newest intact backup into the shared state, unless already merged. `done` is the last merged
   * backup's id.
   */
  async #merge(tenant: TenantId, done: string): Promise<void> {
    const { log } = this.#options;
    const keys = stateKeys(tenant);
    const record = new BackupRecord();
    const store = new BucketStore({ ...this.#options, keys, sharesConfig: true, state: this.#state, record });
    for (const one of await store.stored()) {
      if (!one.published || one.id <= done) continue;
      try {
        await this.#state.mergeTenant(tenant, await store.read(await store.manifest(one)));
        log.info("a chat's data was brought back", { tenant, id: one.id });
        return;
      } catch (error) {
        if (!(error instanceof StewardError) || error.code !== "backup_corrupt") throw error;
        log.error("a backup of a chat is damaged", { tenant, id: one.id, error: error.message });
      }
    }
  }
}

function noteKey(found: Map<TenantId, string>, key: string): void {
  const tenant = key.slice(TENANTS_PREFIX.length).split("/")[0] ?? "";
  if (!isTenantId(tenant)) return;
  const { generations } = stateKeys(tenant);
  const isManifest = key.startsWith(generations) && key.endsWith(GENERATION_FILES.manifest);
  const id = isManifest ? key.slice(generations.length, -GENERATION_FILES.manifest.length) : "";
  if (id === "" && key !== tenantMark(tenant)) return;
  const known = found.get(tenant) ?? "";
  found.set(tenant, id > known ? id : known);
}
