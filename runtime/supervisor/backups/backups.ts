import { existsSync, type ReadStream } from "node:fs";
import { join } from "node:path";
import type { BackupCause, ConfigSource, GenerationManifest, RestoreReport } from "../../contract/backup.ts";
import type { ConfigText } from "../../contract/control.ts";
import type { Environment } from "../../contract/environment.ts";
import { reason, StewardError, type Reason } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { RESTORE_MARKER } from "../../contract/names.ts";
import type { Redactor } from "../../shared/redact.ts";
import { stateRevision } from "../../process/backups/content.ts";
import { makeGeneration } from "../../process/backups/generation.ts";
import {
  drill,
  finishRestore,
  readArchivedConfig,
  removeScratch,
  stageRestore,
} from "../../process/backups/restore.ts";
import { Shelf } from "../../process/backups/shelf.ts";
import type { Archive } from "../../process/backups/unpack.ts";
import type { ConfigEditor } from "../config-edit.ts";

/** The parts of the gateway's life cycle that a restore uses. */
interface Holder {
  hold(why: Reason): Promise<void>;
  release(): void;
  stop(): Promise<void>;
}

/** Dependencies of making and restoring copies of the state. */
export interface StateBackupsOptions {
  /** The data directory. */
  home: string;
  supervisor: Holder;
  editConfig(): Promise<ConfigEditor>;
  /** The gateway's environment: what a config file is checked against. */
  environment: Environment;
  redact: Redactor;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Options of a copy. */
export interface MakeOptions {
  /** Its name; without one it is the next. */
  id?: string | undefined;
  cause?: BackupCause | undefined;
  /** Looks at it before it is there for others; what it throws keeps it from that. */
  accept?(manifest: GenerationManifest): void;
}

/** Options of putting an archive in place that was handed over. */
export interface ReceiveOptions {
  config: ConfigSource;
  /** True if the gateway starts then; else it is left stopped. */
  start: boolean;
}

/** Reason in the status meanwhile. */
const RESTORING = reason("gateway_not_ready", "Its state is being restored; it starts when that is done.");

/**
 * Makes and restores generations beside a gateway that runs. One thing at a time, over all processes: what
 * comes meanwhile is refused as `commands_busy`.
 */
export class StateBackups {
  readonly #options: StateBackupsOptions;
  readonly #shelf: Shelf;
  /** Moves once a process, at its first copy. */
  #epoch: number | undefined;

  constructor(options: StateBackupsOptions) {
    this.#options = options;
    this.#shelf = new Shelf(options.home);
  }

  revision(): Promise<string> {
    return stateRevision(this.#options.home);
  }

  /** Newest first. */
  list(): Promise<GenerationManifest[]> {
    return this.#shelf.list();
  }

  /** @throws StewardError `backup_unknown`. */
  open(id: string): Promise<{ content: ReadStream; manifest: GenerationManifest }> {
    return this.#shelf.open(id);
  }

  /** See `makeGeneration`. */
  make(options: MakeOptions = {}): Promise<GenerationManifest> {
    return this.#shelf.alone(() => this.#make(options));
  }

  /** @throws StewardError `backup_unknown`. */
  remove(id: string): Promise<void> {
    return this.#shelf.alone(() => this.#shelf.remove(id));
  }

  /** Unpacks one beside the state and checks it. */
  verify(id: string): Promise<RestoreReport> {
    return this.#shelf.alone(async () => drill({ ...this.#options, ...(await this.#shelf.open(id)) }));
  }

  /** Unpacks an archive from elsewhere beside the state and checks it. */
  tryOut(archive: Archive): Promise<RestoreReport> {
    return this.#shelf.alone(() => drill({ ...this.#options, ...archive }));
  }

  /** The config file of an archive, its secrets marked as those of the file that is there. */
  showConfig(archive: Archive): Promise<ConfigText> {
    return this.#shelf.alone(async () => {
      const { text } = await readArchivedConfig({ ...this.#options, ...archive });
      return (await this.#options.editConfig()).show(text);
    });
  }

  /**
   * Puts the config file of an archive in the place of the one that is there, which is kept beside it. The gateway
   * is left as it is.
   *
   * @throws StewardError `config_no_good` where it is not valid for this version.
   */
  takeConfig(archive: Archive): Promise<ConfigText> {
    return this.#shelf.alone(async () => {
      const { text, report } = await readArchivedConfig({ ...this.#options, ...archive });
      if (report.configProblems.length > 0) throw noLongerGood(report);
      const editor = await this.#options.editConfig();
      const expected = editor.read("file").sha256 ?? "none";
      // Its plain secrets are no reason to refuse it: they were there before.
      const taken = await editor.replace(text, { expected, unchecked: true, write: true });
      if ("problems" in taken) throw noLongerGood(report);
      return taken;
    });
  }

  /** Replaces the state with a backup, after a copy of the current state, and restarts the gateway. */
  restore(id: string, config: ConfigSource): Promise<RestoreReport> {
    return this.#shelf.alone(async () => {
      const archive = { ...this.#options, ...(await this.#shelf.open(id)) };
      const report = await stageRestore(archive, { config, copyFirst: true });
      await this.#finish(true);
      return report;
    });
  }

  /** Puts an archive from elsewhere in the state's place. Whoever sends it has a copy of what is there now. */
  receive(archive: Archive, { config, start }: ReceiveOptions): Promise<RestoreReport> {
    return this.#shelf.alone(async () => {
      const report = await stageRestore({ ...this.#options, ...archive }, { config, copyFirst: false });
      await this.#finish(start);
      return report;
    });
  }

  /** Continues without a restore: there is no data to wait for. */
  async receiveNothing({ start }: Pick<ReceiveOptions, "start">): Promise<void> {
    if (start) this.#options.supervisor.release();
    else await this.#options.supervisor.stop();
  }

  /** Puts in place what was marked before this process was started, and removes what a crash has left. */
  finishMarked(): Promise<void> {
    const { home, log } = this.#options;
    return this.#shelf.alone(async () => {
      const id = await finishRestore(home, () => this.#make({ cause: "restore" }));
      if (id !== undefined) log.info("a restore was finished", { id });
      await removeScratch(home);
      await this.#shelf.tidy();
    });
  }

  async #finish(start: boolean): Promise<void> {
    const { home, supervisor, log } = this.#options;
    await supervisor.hold(RESTORING);
    try {
      const id = await finishRestore(home, () => this.#make({ cause: "restore" }));
      log.info("the state was restored", { id });
    } catch (error) {
      // Without the marker it was called off, and the state is whole.
      if (!existsSync(join(home, RESTORE_MARKER))) supervisor.release();
      else if (error instanceof StewardError) await supervisor.hold(error.reason);
      throw error;
    }
    if (start) supervisor.release();
    else await supervisor.stop();
  }

  async #make({ id, cause, accept }: MakeOptions = {}): Promise<GenerationManifest> {
    const { home, environment, clock, log } = this.#options;
    this.#epoch ??= (await this.#shelf.epoch()) + 1;
    const manifest = await makeGeneration({
      home,
      shelf: this.#shelf,
      id: id ?? (await this.#shelf.next(this.#epoch)),
      environment,
      clock,
      cause,
      ...(accept && { accept }),
    });
    log.info("a backup was made", { id: manifest.id, size: manifest.size, ...manifest.counts });
    return manifest;
  }
}

function noLongerGood({ id }: RestoreReport): StewardError {
  return new StewardError("config_no_good", `The config of the backup ${id} is not valid for this version.`);
}
