/** Started as a process of its own: deploys, starts a container, prints its pid, and waits to be killed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRunner, startCloudflare } from "../../rehearsal/cloudflare/index.ts";
import { ACCOUNT, ask, clientOf, deployAll, SUPERVISOR, tieApplication, TOKEN, until } from "./support.ts";

const dir = process.argv[2] ?? "";
const file = join(dir, "supervisor.mjs");
writeFileSync(file, SUPERVISOR);
const supervise = { command: [process.execPath, file], dir: join(dir, "containers") };
const log = (): void => undefined;
const runner = createRunner({ dir: join(dir, "runner"), containers: { kind: "process", supervise }, log });
const cloudflare = await startCloudflare({
  dir: join(dir, "account"),
  port: 0,
  accountId: ACCOUNT,
  apiToken: TOKEN,
  runner,
  log,
});
const client = clientOf(cloudflare.url);
await tieApplication(client, (await deployAll(client)).namespaceId);
await ask(runner, "/object/start");
const status = "/object/port/18790/";
await until(async () => (await ask(runner, status)).status === 200);
const { pid } = (await (await ask(runner, status)).json()) as { pid: number };
process.stdout.write(`${pid}\n`);
setInterval(() => undefined, 60_000);
