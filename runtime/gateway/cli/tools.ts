import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { CONFIG_FILE, STATE_FILE } from "../../contract/names.ts";
import type { BackupTools, OperationTools } from "../../operations/tools.ts";
import type { StoreFileOptions } from "../store-file.ts";
import type { CommandContext } from "./context.ts";

const BUSY_MS = 5_000;
/** Limits where the config is not valid: the gateway is down, and its files are edited all the same. */
const LIMITS = { workspaceMiB: 256, groupMiB: 16 };
const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Makes the tools of this machine's data directory. A part's modules are loaded when it is asked for. */
export function commandTools(context: CommandContext): OperationTools {
  const { settings, environment, redact, output, clock } = context;
  const { home, configPath } = settings;
  const file = join(home, STATE_FILE);
  const storeOptions: StoreFileOptions & { home: string } = {
    home,
    clock,
    onSetAside: ({ path, movedTo, problem }) =>
      output.warn(`${path} could not be read (${problem}). It was set aside as ${movedTo}.`),
  };
  const config: OperationTools["config"] = {
    async read() {
      const { readConfigFile } = await import("./config-file.ts");
      return readConfigFile(configPath, environment);
    },
    async check() {
      const { wholeReading } = await import("../../process/config-file.ts");
      return wholeReading(await config.read());
    },
    async valid() {
      const { validConfig } = await import("./config-file.ts");
      return validConfig(configPath, environment);
    },
    risks: async (valid) => (await import("../access-risks.ts")).accessRisks(valid, home),
    set: async (...change) => (await import("./config-write.ts")).setConfig(context, ...change),
    unset: async (path) => (await import("./config-write.ts")).unsetConfig(context, path),
    schema: async () => (await import("../../contract/config/json-schema.ts")).configJsonSchema(),
  };
  const gateway = async () => import("./gateway.ts");
  const scheduleStore = async () => {
    const { ScheduleStore } = await import("../schedules/store.ts");
    const { openStore } = await import("../store.ts");
    const { ensureDirectory } = await import("../../process/files.ts");
    ensureDirectory(home);
    const database = openStore(file);
    return { store: new ScheduleStore(database), [Symbol.dispose]: () => database.close() };
  };
  return {
    environment,
    configPath,
    redact,
    clock,
    pairing: async () => (await import("../pairing/store.ts")).pairingStores(storeOptions),
    devices: async () => new (await import("../devices.ts")).DeviceStore(storeOptions),
    setAside: async () => (await import("../store-file.ts")).setAsideFiles(home),
    // Looking at the tables neither makes the file nor changes its form.
    rows: async (table, query, ...values) =>
      (await readTable(file, table, (database) => database.prepare(query).all(...values))) ?? [],
    async sessions(act) {
      if (!existsSync(file)) return undefined;
      const { openStore } = await import("../store.ts");
      const { Sessions } = await import("../sessions/store.ts");
      const { deleteConversation } = await import("../sessions/retention.ts");
      using database = openStore(file);
      return act(new Sessions(database), (name) => deleteConversation(database, name));
    },
    schedules: {
      async list() {
        const { ScheduleStore } = await import("../schedules/store.ts");
        return (await readTable(file, "schedules", (database) => new ScheduleStore(database).list())) ?? [];
      },
      async add(spec) {
        const { addSchedule } = await import("../schedules/port.ts");
        using open = await scheduleStore();
        return await addSchedule(open.store, "cli", spec, clock());
      },
      async pause(id) {
        const { pauseSchedule } = await import("../schedules/port.ts");
        using open = await scheduleStore();
        pauseSchedule(open.store, id);
      },
      async resume(id) {
        const { resumeSchedule } = await import("../schedules/port.ts");
        using open = await scheduleStore();
        return await resumeSchedule(open.store, id, clock());
      },
      async run(id) {
        const { runSchedule } = await import("../schedules/port.ts");
        using open = await scheduleStore();
        runSchedule(open.store, id, clock());
      },
      async remove(id) {
        const { removeSchedule } = await import("../schedules/port.ts");
        using open = await scheduleStore();
        removeSchedule(open.store, id);
      },
    },
    async workspace() {
      const { Workspace } = await import("../workspace/workspace.ts");
      const { result } = await config.read();
      return new Workspace({ home, limits: result.ok ? result.config.agent.limits : LIMITS, clock });
    },
    config,
    gateway: {
      ready: async () => (await gateway()).askReady(context),
      status: async () => (await gateway()).askGateway(context),
      async testModel(valid, model) {
        const { TEST_LIMIT_MS, testModel } = await import("../models/test-question.ts");
        const asked = await (await gateway()).testByGateway(context, model, TEST_LIMIT_MS);
        if (asked !== undefined) return asked;
        const { createModels } = await import("../models/create.ts");
        const { UsageStore } = await import("../models/usage.ts");
        const { openStore } = await import("../store.ts");
        using database = openStore(file);
        const usage = new UsageStore(database);
        const relay = createModels(valid, { environment, redact, clock, usage, log: SILENT });
        return await testModel(relay, model, clock);
      },
    },
    backups: backupTools(context),
    doctor: {
      examine: async () =>
        (await import("../doctor.ts")).examine(context, await (await gateway()).askGateway(context)),
      mend: async () => [
        ...(await import("./mend.ts")).mendFile(context),
        ...(await import("../doctor.ts")).mendRights(context),
      ],
    },
    async readDataFile() {
      throw new Error(`Only the supervisor reads ${CONFIG_FILE} and other files for the console.`);
    },
    completion: async (shell) => (await import("./completion.ts")).completionScript(shell),
  };
}

function backupTools({ settings, environment, redact, clock }: CommandContext): BackupTools {
  const { home } = settings;
  const shelf = async () => new (await import("../../process/backups/shelf.ts")).Shelf(home);
  const restoring = async () => {
    const { drill, stageRestore } = await import("../../process/backups/restore.ts");
    const open = await shelf();
    const archive = async (id: string) => ({ home, environment, redact, ...(await open.open(id)) });
    return { open, archive, drill, stageRestore };
  };
  return {
    list: async () => (await shelf()).list(),
    async create(options) {
      const { makeGeneration } = await import("../../process/backups/generation.ts");
      const open = await shelf();
      return open.alone(async () => {
        const id = await open.next(Math.max(1, await open.epoch()));
        return makeGeneration({ home, shelf: open, id, environment, clock, ...options });
      });
    },
    async verify(id) {
      const { open, archive, drill } = await restoring();
      return open.alone(async () => drill(await archive(id)));
    },
    async stageRestore(id, config) {
      const { open, archive, stageRestore } = await restoring();
      return open.alone(async () => stageRestore(await archive(id), { config, copyFirst: true }));
    },
  };
}

/** Reads a table of state.db; `undefined` if there is no such file or table. */
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

function quiet(): void {
  // The answer, or the error, says it all.
}
