import type { ConfigSource, GenerationManifest, RestoreReport } from "../contract/backup.ts";
import type { Config } from "../contract/config/index.ts";
import type { Schedule } from "../contract/config/schedules.ts";
import type { ConfigReading } from "../contract/config/text.ts";
import type { GatewayStatus, ModelTested } from "../contract/control.ts";
import type { Environment } from "../contract/variables.ts";
import type { AccessRisk } from "../gateway/access-risks.ts";
import type { DeviceStore } from "../gateway/devices.ts";
import type { Finding } from "../gateway/doctor.ts";
import type { PairingStores } from "../gateway/pairing/store.ts";
import type { StoredSchedule } from "../gateway/schedules/store.ts";
import type { Sessions } from "../gateway/sessions/store.ts";
import type { Workspace } from "../gateway/workspace/workspace.ts";
import type { Redactor } from "../shared/redact.ts";

/**
 * Capabilities of operations. Each part is loaded when it is asked for: a command loads no more than it needs. The
 * gateway may be up or down.
 */
export interface OperationTools {
  environment: Environment;
  /** The config file's path. */
  configPath: string;
  redact: Redactor;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** The approvals of people. A file that cannot be read is set aside, which is reported beside the answer. */
  pairing(): Promise<PairingStores>;
  /** The approvals of browsers; as {@link pairing}. */
  devices(): Promise<DeviceStore>;
  /** Paths of the stores that were set aside. */
  setAside(): Promise<string[]>;
  /** Rows of state.db, which reading neither makes nor changes; none if it has no such table. */
  rows(table: string, query: string, ...values: (string | number)[]): Promise<Record<string, unknown>[]>;
  /** Changes state.db. `undefined`: there is none. */
  sessions<T>(
    act: (sessions: Sessions, remove: (name: string) => number | undefined) => T,
  ): Promise<T | undefined>;
  schedules: ScheduleTools;
  workspace(): Promise<Workspace>;
  config: ConfigTools;
  gateway: GatewayTools;
  backups: BackupTools;
  doctor: DoctorTools;
  /** Prints a file of the data directory. */
  readDataFile(name: string): Promise<string>;
  /** The script that completes this command line in a shell. */
  completion(shell: "bash" | "zsh" | "fish"): Promise<string>;
}

/** The schedules of state.db. A running gateway sees a change within seconds. */
interface ScheduleTools {
  list(): Promise<StoredSchedule[]>;
  add(spec: Schedule): Promise<{ id: string; nextAt: number }>;
  pause(id: string): Promise<void>;
  /** Resolves with the time of the next run, in milliseconds since the epoch. */
  resume(id: string): Promise<number>;
  run(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Options beside writing a value. */
export interface SetOptions {
  /** Writes a reference to this variable instead of a value. */
  env?: string | undefined;
  /** A secret may stand in the file in plain text. */
  plain?: boolean | undefined;
}

/** The config file. */
interface ConfigTools {
  /** @throws StewardError `config_missing` */
  read(): Promise<ConfigReading>;
  /** As the gateway checks it at its start: {@link read}, and the cron expressions. */
  check(): Promise<ConfigReading>;
  /** @throws StewardError `config_missing`, `config_invalid` */
  valid(): Promise<Config>;
  /** Risks of who may do what. */
  risks(config: Config): Promise<AccessRisk[]>;
  set(path: string, value: string | undefined, options: SetOptions): Promise<void>;
  unset(path: string): Promise<void>;
  schema(): Promise<unknown>;
}

/**
 * Statement of the running gateway about itself. `details` if this process has its control token or may read its status
 * token. `foreign`: something else answers on its port, perhaps the gateway of another data directory.
 */
export interface GatewayAnswer {
  url: string;
  ready: boolean;
  foreign?: true;
  version?: string;
  details?: GatewayStatus;
}

/** The gateway of this machine. */
interface GatewayTools {
  /** Asks only if it is ready. */
  ready(): Promise<GatewayAnswer>;
  status(): Promise<GatewayAnswer>;
  /** Has the running gateway ask a model a short question; asks in this process if none runs. */
  testModel(config: Config, model: string): Promise<ModelTested>;
}

/** The backups of the data directory; at the edge, those of the deployment. */
export interface BackupTools {
  list(): Promise<GenerationManifest[]>;
  create(options: { cause: "operator" }): Promise<GenerationManifest>;
  verify(id: string): Promise<RestoreReport>;
  /** Puts a backup in place at the next start, after a copy of what is there then. */
  stageRestore(id: string, config: ConfigSource): Promise<RestoreReport>;
}

/** Checks of this machine, and the repairs that lose nothing. */
interface DoctorTools {
  examine(): Promise<Finding[]>;
  /** Resolves with one line a change. */
  mend(): Promise<string[]>;
}
