import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { startNode, temporaryDirectory } from "../runtime/support/processes.ts";
import { startService, startSurroundings } from "../support/service.ts";

test("the bundle's host puts a backup in place at its start, and leaves its own events as they are", async () => {
  const { slack, environment, close } = await startSurroundings();
  onTestFinished(close);
  const { dir } = (await buildBundle()).container;
  const home = await temporaryDirectory();
  const start = async () => {
    const service = await startService(dir, "host/main.js", home, environment);
    const say = async (text: string) => {
      const response = await fetch(`${service.url}/slack/events`, {
        method: "POST",
        ...slack.sign(mention(text)),
      });
      expect(response.status).toBe(200);
      await slack.waitFor((message) => message.text.includes(text), 20_000);
    };
    return { ...service, say };
  };
  const data = join(home, "data");
  const backup = async (...args: string[]) => {
    const cli = join(dir, "gateway", "cli", "main.js");
    const run = startNode([cli, "backup", ...args], { ...environment, STEWARD_HOME: data });
    expect(await run.exited).toBe(0);
    return run.stdout();
  };
  const count = (table: string) => {
    const database = new DatabaseSync(join(data, "state.db"), { readOnly: true });
    try {
      return database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"];
    } finally {
      database.close();
    }
  };

  const first = await start();
  await first.say("one");
  await backup("create");
  await first.say("two");
  expect(await backup("restore", "00000001-00000001", "--yes")).toContain("Restart steward now");
  await first.stop();
  expect([count("ledger"), count("messages")]).toEqual([2, 4]);
  const second = await start();
  expect([count("ledger"), count("messages")]).toEqual([2, 2]);
  await second.say("three");
  expect(await backup("list")).toMatch(/^Id .*\n00000002-00000001 .* 4\n00000001-00000001 .* 2\n$/);
  await second.stop();
  expect([count("ledger"), count("messages")]).toEqual([3, 4]);
});

test("the bundle's host takes the last good config by itself where that is configured", async () => {
  const { environment, close } = await startSurroundings();
  onTestFinished(close);
  const { dir } = (await buildBundle()).container;
  const home = await temporaryDirectory();
  const variables = { ...environment, ADMIN_TOKEN: "an-admin-token-0123", CONFIG_RECOVERY: "auto" };
  const headers = { authorization: `Bearer ${variables.ADMIN_TOKEN}` };
  const start = () => startService(dir, "host/main.js", home, variables);
  const config = join(home, "data", "steward.json");

  const first = await start();
  const created = await fetch(`${first.url}/debug/cli?cmd=backup%20create`, { headers });
  expect(await created.json()).toMatchObject({ exitCode: 0 });
  await first.stop();
  const good = await readFile(config, "utf8");
  await writeFile(config, '{"unknown": 1}');
  const second = await start();
  expect(await readFile(config, "utf8")).toBe(good);
  const overview = await (await fetch(`${second.url}/_admin/`, { headers })).text();
  expect(overview).toMatch(/invalid at a start[\s\S]*00000001-00000001/);
  await second.stop();
});
