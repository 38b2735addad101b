/**
 * `npm run orphans`: the container applications that deleted Workers have left in a stack's account, and
 * their removal by id. See `npm run orphans -- --help`.
 */
import { connect } from "../infra/serverless/container-api.ts";
import { findOrphans, removeOrphan, type Orphan } from "../infra/serverless/orphans.ts";
import { runCommand, type Telling } from "./deployed/command.ts";
import { readServerless } from "./deployed/config.ts";
import { openDeployed } from "./deployed/stack.ts";
import { readOptions } from "./orphans/options.ts";

const SOME_FOUND = 2;

async function main(argv: string[], { say, report }: Telling): Promise<number> {
  const { stack: name, remove } = readOptions(argv);
  const { stack, close } = await openDeployed(name, {
    // The configuration alone is read.
    providers: [],
    docker: false,
    log: (line) => say(`${line}\n`),
  });
  try {
    const { config, cloudflare } = await readServerless(stack);
    const client = await connect(cloudflare.apiToken, cloudflare.baseURL);
    if (remove !== undefined) {
      const removed = await removeOrphan(client, config.accountId, remove);
      say(`Removed ${removed.name} (${removed.id}).\n`);
      report({ ok: true, removed });
      return 0;
    }
    const orphans = await findOrphans(client, config.accountId);
    say(orphans.length === 0 ? "No orphans.\n" : orphans.map((one) => describe(name, one)).join(""));
    report({ ok: true, orphans });
    return orphans.length === 0 ? 0 : SOME_FOUND;
  } finally {
    await close();
  }
}

/** An orphan for people, with what removes it. */
function describe(stack: string, { id, name, namespaceId }: Orphan): string {
  const remedy = `npm run orphans -- ${stack} --remove ${id}`;
  return `${name}, tied to the namespace ${namespaceId}, which is gone\n  remove: ${remedy}\n`;
}

await runCommand(main);
