import type { ConfigSource, GenerationManifest, RestoreReport } from "../../contract/backup.ts";
import type { ConfigText } from "../../contract/control.ts";
import type { Backups, BackupsStatus } from "../../edge/ports.ts";
import type { ContainerLife } from "../container-life.ts";
import type { PublishOptions } from "./publisher.ts";
import type { StateSync } from "./state-sync.ts";

/** Dependencies of {@link SandboxBackups}. */
interface SandboxBackupsOptions {
  state: StateSync;
  life: Pick<ContainerLife, "whenRestored">;
}

/** The backups that an operator sees and uses. What needs the container starts it and keeps it awake. */
export class SandboxBackups implements Backups {
  readonly #state: StateSync;
  readonly #life: SandboxBackupsOptions["life"];
  #waiting = 0;

  constructor({ state, life }: SandboxBackupsOptions) {
    this.#state = state;
    this.#life = life;
  }

  /** Someone waits for a copy or a restore, so the container must stay awake. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** See {@link Backups}. */
  async status(): Promise<BackupsStatus> {
    return this.#state.status();
  }

  /** See {@link Backups}. */
  list(): Promise<GenerationManifest[]> {
    return this.#state.list();
  }

  /** See {@link Backups}. */
  create(options: PublishOptions = {}): Promise<GenerationManifest> {
    return this.#awake(() => this.#state.publish(options));
  }

  /** See {@link Backups}. */
  async verify(id: string): Promise<RestoreReport> {
    const manifest = await this.#state.find(id);
    return this.#awake(() => this.#state.verify(manifest));
  }

  /** See {@link Backups}. */
  async restore(id: string, config: ConfigSource): Promise<RestoreReport> {
    const manifest = await this.#state.find(id);
    return this.#awake(() => this.#state.restore(manifest, config));
  }

  /** See {@link Backups}. */
  cachedConfig(): Promise<string | undefined> {
    return this.#state.cachedConfig();
  }

  /** See {@link Backups}. */
  async configOf(id: string): Promise<ConfigText> {
    const manifest = await this.#state.find(id);
    return this.#awake(() => this.#state.configOf(manifest));
  }

  async #awake<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      await this.#life.whenRestored();
      return await work();
    } finally {
      this.#waiting -= 1;
    }
  }
}
