import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { mention } from "../../rehearsal/standins/slack.ts";
import { generationManifest, type GenerationManifest } from "../../runtime/contract/backup.ts";
import { BACKUPS_DIRECTORY } from "../../runtime/contract/names.ts";
import { container } from "../runtime/support/container.ts";
import { ask, deliver, delivery, writeConfig } from "../runtime/support/gateway.ts";
import { startNode, temporaryDirectory } from "../runtime/support/processes.ts";
import { startService, startSurroundings } from "../support/service.ts";

/** The host from the bundle, with its command line. */
async function host() {
  const { slack, environment, close } = await startSurroundings();
  onTestFinished(close);
  const { dir } = (await buildBundle()).container;
  const home = await temporaryDirectory();
  const data = join(home, "data");
  const start = () => startService(dir, "host/main.js", home, environment);
  const backup = async (...words: string[]) => {
    const run = startNode([join(dir, "gateway/cli/main.js"), "backup", ...words], {
      ...environment,
      STEWARD_HOME: data,
    });
    expect(await run.exited).toBe(0);
    return run.stdout();
  };
  const say = async (url: string, text: string) => {
    await fetch(`${url}/slack/events`, { method: "POST", ...slack.sign(mention(text)) });
    await slack.waitFor((message) => message.text.includes(text), 20_000);
  };
  return { data, start, backup, say };
}

/** What was said, in a data directory whose gateway may run. */
function said(data: string): unknown[] {
  const database = new DatabaseSync(join(data, "state.db"), { readOnly: true });
  try {
    const rows = database.prepare("SELECT text FROM messages WHERE role = 'user' ORDER BY seq").all();
    return rows.map(({ text }) => text);
  } finally {
    database.close();
  }
}

test("a host's backup is the state that the serverless stack's container begins with", async () => {
  const { data, start, backup, say } = await host();
  const service = await start();
  await say(service.url, "said on the host");
  await mkdir(join(data, "workspace"), { recursive: true });
  await writeFile(join(data, "workspace", "MEMORY.md"), "likes tea");
  const manifest = generationManifest.parse(JSON.parse(await backup("create", "--json")));
  await service.stop();
  const archive = await readFile(join(data, BACKUPS_DIRECTORY, `${manifest.id}.tar.zst`));

  const fresh = await container({ STEWARD_AWAIT_RESTORE: "true" });
  fresh.start();
  await fresh.state("starting");
  const restored = await ask(`${fresh.control}/restore?config=generation`, {
    method: "POST",
    body: archive,
    headers: { "steward-manifest": JSON.stringify(manifest) },
  });
  expect(await restored.json()).toMatchObject({ id: manifest.id, counts: manifest.counts });
  await fresh.state("ready");

  expect(said(fresh.home)).toEqual(said(data));
  expect(said(fresh.home)).toEqual([expect.stringContaining("said on the host")]);
  expect(await readFile(join(fresh.home, "workspace", "MEMORY.md"), "utf8")).toBe("likes tea");
  expect((await deliver(fresh.url, delivery("E1"))).status).toBe(200);
});

test("a copy of the serverless stack's container is put in place on a host, which goes on from it", async () => {
  const before = await container();
  await writeConfig(before.home);
  before.start();
  await before.state("ready");
  await deliver(before.url, delivery("E1"));
  const made = await ask(`${before.control}/generations`, {
    method: "POST",
    body: JSON.stringify({ id: "00000009-00000004" }),
  });
  const manifest = (await made.json()) as GenerationManifest;
  const archive = await ask(`${before.control}/generations/${manifest.id}`);

  // As somebody copies the two objects out of the bucket, beside what a host has made itself.
  const { data, start, backup, say } = await host();
  const backupDirectory = join(data, BACKUPS_DIRECTORY);
  await mkdir(backupDirectory, { recursive: true, mode: 0o700 });
  await writeFile(join(backupDirectory, `${manifest.id}.tar.zst`), Buffer.from(await archive.arrayBuffer()));
  await writeFile(join(backupDirectory, `${manifest.id}.json`), JSON.stringify(manifest));
  expect(await backup("restore", manifest.id, "--config", "fresh", "--yes")).toContain("Restart steward now");
  const service = await start();
  expect(said(data)).toEqual(said(before.home));
  await say(service.url, "said on the host");
  await service.stop();

  expect(said(data)).toEqual([...said(before.home), expect.stringContaining("said on the host")]);
});
