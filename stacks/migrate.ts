/**
 * `npm run migrate`: gives a stack's Worker another name, with the migration that this takes. Previews the
 * change, and writes it to the stack's settings once it is accepted. See `npm run migrate -- --help`.
 */
import { plannedChanges } from "../infra/serverless/migration-changes.ts";
import { StewardError } from "../runtime/contract/errors.ts";
import { SANDBOX_CLASS } from "../runtime/contract/names.ts";
import { runCommand, type Telling } from "./deployed/command.ts";
import { readServerless } from "./deployed/config.ts";
import { openDeployed } from "./deployed/stack.ts";
import { readOptions, type MigrateOptions } from "./migrate/options.ts";
import { previewSettings } from "./migrate/preview.ts";
import { readSettingsFile, replaceSettings, withMigration } from "./migrate/settings-file.ts";
import type { ServerlessConfig } from "./config.ts";
import type { OpenStack } from "./rehearsal/stack.ts";

const NOT_ACCEPTED = 2;

async function main(argv: string[], telling: Telling): Promise<number> {
  const options = readOptions(argv);
  const { stack, close } = await openDeployed(options.stack, {
    providers: ["cloudflare", "command"],
    docker: false,
    log: (line) => telling.say(`${line}\n`),
  });
  try {
    return await migrate(stack, options, telling);
  } finally {
    await close();
  }
}

async function migrate(
  stack: OpenStack["stack"],
  options: MigrateOptions,
  { say, report }: Telling,
): Promise<number> {
  const { workerName, accept } = options;
  const { config: present } = await readServerless(stack);
  if (workerName === present.workerName) {
    throw new Error(`the Worker is named ${workerName}. Fix: give another --worker-name`);
  }
  const next = { tag: `v${present.migrations.length + 1}`, newSqliteClasses: [SANDBOX_CLASS] };
  if (accept !== undefined && accept !== next.tag) {
    throw new StewardError(
      "migration_not_accepted",
      `${accept} is accepted, and the change adds ${next.tag}.`,
    );
  }
  const { config: planned } = await readServerless(stack, {
    "steward:workerName": workerName,
    "steward:migrations": JSON.stringify([...present.migrations, next]),
  });

  const settings = await readSettingsFile(stack);
  const changed = withMigration(settings.text, workerName, present.migrations, next);
  const steps = await previewSettings(stack, changed, say);
  const plan = [...plannedChanges(present, planned), ...address(present, planned)];
  say(`\n${plan.join("\n")}\n\n`);
  const result = { ok: true, workerName, tag: next.tag, plan, steps };

  if (accept === undefined) {
    say(`Nothing was changed. To accept: npm run migrate -- ${options.stack} --worker-name ${workerName}`);
    say(` --accept-migration ${next.tag}\n`);
    report({ ...result, accepted: false });
    return NOT_ACCEPTED;
  }
  await replaceSettings(settings, changed);
  say(`Written to ${settings.file}. To deploy: pulumi up -s ${options.stack}\n`);
  report({ ...result, accepted: true });
  return 0;
}

/** What callers have to be told, a line each. */
function address(present: ServerlessConfig, planned: ServerlessConfig): string[] {
  if (present.host === planned.host) return [`The address stays https://${present.host}`];
  return [
    `The address becomes https://${planned.host}, no longer https://${present.host}`,
    "Told by the update: Telegram and Discord. To change by hand: Slack's Request URL (pulumi stack output slackManifest)",
  ];
}

await runCommand(main);
