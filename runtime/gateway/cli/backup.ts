import { backupsText, madeText, wholeText, reportText } from "../../shared/backup-texts.ts";
import { Option, type Command } from "commander";
import { CONFIG_SOURCES, type ConfigSource } from "../../contract/backup.ts";
import { makeGeneration } from "../../process/backups/generation.ts";
import { drill, type RestoreOptions, stageRestore } from "../../process/backups/restore.ts";
import { Shelf } from "../../process/backups/shelf.ts";
import type { CommandContext, JsonOption } from "./context.ts";

interface RestoreFlags extends JsonOption {
  config: ConfigSource;
  yes?: boolean;
}

/** `steward backup list|create|verify|restore`. They work with the gateway up and down. */
export function addBackupCommands(program: Command, context: CommandContext): void {
  const { settings, output } = context;
  const shelf = new Shelf(settings.home);
  const backup = program.command("backup").description("copies of the data directory");
  backup
    .command("list")
    .description("the backups of this data directory, newest first")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const backups = await shelf.list();
      output.answer(json, { backups }, backupsText(backups));
    });
  backup
    .command("create")
    .description("makes a backup now, beside a gateway that may run")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const manifest = await create(shelf, context);
      output.answer(json, manifest, madeText(manifest));
    });
  backup
    .command("verify <id>")
    .description("unpacks a backup beside the data and checks it; changes nothing")
    .option("--json", "as JSON")
    .action(async (id: string, { json }: JsonOption) => {
      const report = await shelf.alone(async () => drill(await archive(shelf, id, context)));
      output.answer(json, report, wholeText(report));
    });
  backup
    .command("restore <id>")
    .description("puts a backup in place at steward's next start, after a copy of what is there then")
    .addOption(configOption())
    .option("--yes", "do it; without it the backup is only checked")
    .option("--json", "as JSON")
    .action(async (id: string, { json, config, yes = false }: RestoreFlags) => {
      const options = { config, copyFirst: true };
      const report = await shelf.alone(async () => {
        const opened = await archive(shelf, id, context);
        return yes ? stageRestore(opened, options) : drill(opened);
      });
      const what = yes
        ? `Backup ${id} is put in place when steward starts next. Restart it now (docker restart steward).`
        : `Backup ${id} is whole. Nothing was changed; with --yes it is put in place at the next start.`;
      output.answer(json, { ...report, pending: yes }, `${what}\n${reportText(report)}`);
    });
}

function configOption(): Option {
  return new Option("--config <source>", "the config file: the backup's, a fresh one, or the current one")
    .choices(CONFIG_SOURCES)
    .default("generation");
}

function create(shelf: Shelf, { settings, environment, clock }: CommandContext) {
  return shelf.alone(async () => {
    const id = await shelf.next(Math.max(1, await shelf.epoch()));
    return makeGeneration({ home: settings.home, shelf, id, environment, clock, cause: "operator" });
  });
}

async function archive(shelf: Shelf, id: string, context: CommandContext): Promise<RestoreOptions> {
  const { settings, environment, redact } = context;
  return { home: settings.home, environment, redact, ...(await shelf.open(id)) };
}
