import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { BackupCause, ConfigSource } from "../../contract/backup.ts";
import type { Admitted } from "../../contract/delivery.ts";
import type { Config } from "../../contract/config/index.ts";
import { STATE_FILE } from "../../contract/names.ts";
import type { ScheduleStore } from "../schedules/store.ts";
import type { Sessions } from "../sessions/store.ts";
import type { StoreFileOptions } from "../store-file.ts";
import type { Place } from "./completion.ts";
import type { CommandContext } from "./context.ts";

const BUSY_MS = 5_000;
/** Size limits of the workspace and of one group's folder while the config is invalid. */
const LIMITS = { workspaceMiB: 256, groupMiB: 16 };
const PEOPLE = `SELECT key, name, admitted, first_at, seen_at FROM ledger_names
  WHERE kind = 'person' AND person_of IS NULL ORDER BY seen_at DESC, key DESC LIMIT ?`;
const SILENT = { debug: noop, info: noop, warn: noop, error: noop };

/**
 * Creates the local tools that operations use, whether or not the gateway is running. Imports modules on first use,
 * so that commands start fast.
 */
export function commandTools(context: CommandContext, places: () => Place[]) {
  const { settings, environment, redact, output, clock } = context;
  const { home, configPath } = settings;
  const file = join(home, STATE_FILE);
  const storeOptions: StoreFileOptions & { home: string } = {
    home,
    clock,
    onSetAside: ({ path, movedTo, problem }) =>
      output.warn(`${path} could not be read (${problem}). It was set aside as ${movedTo}.`),
  };
  const gateway = () => import("./gateway.ts");
  const readConfig = async () => (await import("./config-file.ts")).readConfigFile(configPath, environment);
  return {
    environment,
    configPath,
    redact,
    clock,
    /**
     * Functions that load modules of the config schema. Operations do not import these modules themselves, so that a
     * Worker can load operations without them.
     */
    contract: {
      config: () => import("../../contract/config/index.ts"),
      ids: () => import("../../contract/config/ids.ts"),
      references: () => import("../../contract/config/references.ts"),
      schedules: () => import("../../contract/config/schedules.ts"),
      text: () => import("../../contract/config/text.ts"),
    },
    pairing: async () => (await import("../pairing/store.ts")).pairingStores(storeOptions),
    devices: async () => new (await import("../devices.ts")).DeviceStore(storeOptions),
    setAside: async () => (await import("../store-file.ts")).setAsideFiles(home),
    /** Returns rows of state.db; none if the file or table does not exist. Never creates or migrates the file. */
    rows: async (table: string, query: string, ...values: (string | number)[]) =>
      (await readTable(file, table, (database): Row[] => database.prepare(query).all(...values))) ?? [],
    /**
     * Returns people from a host's directory table, most recently seen first. Returns none in a serverless container.
     */
    async people(most: number) {
      const rows = await readTable(file, "ledger_names", (database): Row[] =>
        database.prepare(PEOPLE).all(most),
      );
      return (rows ?? []).map(personOf);
    },
    /**
     * Calls `act` with the stored sessions and returns its result. Returns `undefined` if state.db does not exist.
     */
    async sessions<T>(act: (sessions: Sessions, remove: (name: string) => number | undefined) => T) {
      if (!existsSync(file)) return undefined;
      const { openStore } = await import("../store.ts");
      const { Sessions } = await import("../sessions/store.ts");
      const { deleteConversation } = await import("../sessions/retention.ts");
      using database = openStore(file);
      return act(new Sessions(database), (name) => deleteConversation(database, name));
    },
    async listSchedules() {
      const { ScheduleStore } = await import("../schedules/store.ts");
      return (await readTable(file, "schedules", (database) => new ScheduleStore(database).list())) ?? [];
    },
    scheduleTimes: async () => ({
      firstRun: (await import("../schedules/port.ts")).firstRun,
      outlook: (await import("../schedules/times.ts")).describeUpcomingRuns,
      readLocalTime: (await import("../../process/cron.ts")).readLocalTime,
    }),
    /** Calls `act` with the stored schedules. A running gateway notices changes within seconds. */
    async schedules<T>(act: (changes: ScheduleChanges, store: ScheduleStore) => T | Promise<T>): Promise<T> {
      const { ScheduleStore } = await import("../schedules/store.ts");
      const { openStore } = await import("../store.ts");
      const { ensureDirectory } = await import("../../process/files.ts");
      ensureDirectory(home);
      using database = openStore(file);
      return await act(await scheduleChanges(), new ScheduleStore(database));
    },
    async workspace() {
      const { Workspace } = await import("../workspace/workspace.ts");
      const { result } = await readConfig();
      return new Workspace({ home, limits: result.ok ? result.config.agent.limits : LIMITS, clock });
    },
    config: {
      /** @throws StewardError `config_missing` */
      check: async () =>
        (await import("../../process/config-file.ts")).withScheduleChecks(await readConfig()),
      /** @throws StewardError `config_missing`, `config_invalid` */
      valid: async () => (await import("./config-file.ts")).validConfig(configPath, environment),
      risks: async (config: Config) => (await import("../access-risks.ts")).accessRisks(config, home),
      changes: async () => ({ context, ...(await import("./config-write.ts")) }),
      schema: async () => (await import("../../contract/config/json-schema.ts")).configJsonSchema(),
    },
    gateway: {
      ready: async () => (await gateway()).askReady(context),
      status: async () => (await gateway()).askGateway(context),
      /** Tests a model through the running gateway, or in this process if none runs. */
      async testModel(config: Config, model: string) {
        const { TEST_LIMIT_MS, testModel } = await import("../models/test-question.ts");
        const asked = await (await gateway()).testByGateway(context, model, TEST_LIMIT_MS);
        if (asked !== undefined) return asked;
        const { createModels } = await import("../models/create.ts");
        const { UsageStore } = await import("../models/usage.ts");
        const { openStore } = await import("../store.ts");
        using database = openStore(file);
        const usage = new UsageStore(database);
        const relay = createModels(config, { environment, redact, report: noop, clock, usage, log: SILENT });
        return await testModel(relay, model, clock);
      },
    },
    backups: backupTools(context),
    doctor: {
      examine: async () =>
        (await import("../doctor.ts")).diagnose(context, await (await gateway()).askGateway(context)),
      /** Repairs the config file and permissions without losing data. Resolves to one line per change. */
      mend: async () => [
        ...(await import("./mend.ts")).mendFile(context),
        ...(await import("../doctor.ts")).fixPermissions(context),
      ],
    },
    completion: async (shell: "bash" | "zsh" | "fish") =>
      (await import("./completion.ts")).completionScript(shell, places()),
  };
}

type Row = Record<string, SQLOutputValue>;

type ScheduleChanges = Awaited<ReturnType<typeof scheduleChanges>>;

async function scheduleChanges() {
  const { addSchedule, editSchedule, pauseSchedule, resumeSchedule, runSchedule, removeSchedule } =
    await import("../schedules/port.ts");
  return { addSchedule, editSchedule, pauseSchedule, resumeSchedule, runSchedule, removeSchedule };
}

function backupTools({ settings, environment, redact, clock }: CommandContext) {
  const { home } = settings;
  const openBackupDirectory = async () =>
    new (await import("../../backups/archive/backup-directory.ts")).BackupDirectory(home);
  const openArchive = async (id: string) => {
    const backupDirectory = await openBackupDirectory();
    const options = async () => ({ home, environment, redact, ...(await backupDirectory.read({ id })) });
    return { backupDirectory, options, ...(await import("../../backups/archive/restore.ts")) };
  };
  return {
    list: async () => (await openBackupDirectory()).list(),
    async create(options: { cause: BackupCause }) {
      const { makeGeneration } = await import("../../backups/archive/generation.ts");
      const backupDirectory = await openBackupDirectory();
      return backupDirectory.runExclusively(async () =>
        makeGeneration({
          home,
          backupDirectory,
          id: await backupDirectory.nextId(1),
          environment,
          clock,
          ...options,
        }),
      );
    },
    async verify(id: string) {
      const { backupDirectory, options, verifyArchive } = await openArchive(id);
      return (await backupDirectory.runExclusively(async () => verifyArchive(await options()))).report;
    },
    /** Stages a restore. The next start backs up the current data, then replaces it. */
    async stageRestore(id: string, config: ConfigSource) {
      const { backupDirectory, options, stageRestore } = await openArchive(id);
      return backupDirectory.runExclusively(async () =>
        stageRestore(await options(), { config, copyFirst: true }),
      );
    },
  };
}

/** Returns the result of `read`; `undefined` if state.db or the table does not exist. */
async function readTable<T>(
  file: string,
  table: string,
  read: (database: DatabaseSync) => T,
): Promise<T | undefined> {
  if (!existsSync(file)) return undefined;
  const { DatabaseSync } = await import("node:sqlite");
  try {
    using database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
    const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table);
    return made === undefined ? undefined : read(database);
  } catch (error) {
    const { storeFailure } = await import("../../process/database.ts");
    throw storeFailure(error, file) ?? error;
  }
}

function noop(): void {
  // Commands write no log: their results and errors are enough.
}

function personOf({ key, name, admitted, first_at: first, seen_at: seen }: Row) {
  const time = (value: unknown): string => new Date(Number(value)).toISOString();
  return {
    key: String(key),
    ...(name !== null && { name: String(name) }),
    ...(admitted !== null && { admitted: admitted as Admitted }),
    firstSeenAt: time(first),
    lastSeenAt: time(seen),
  };
}
