import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { GenerationManifest } from "../../../runtime/contract/backup.ts";
import { container } from "../support/container.ts";
import { ask, askJson, deliver, delivery, writeConfig } from "../support/gateway.ts";
import type { RuntimeProcess } from "../support/processes.ts";

type Container = Awaited<ReturnType<typeof container>>;

async function make({ control }: Container): Promise<GenerationManifest> {
  const response = await ask(`${control}/generations`, { method: "POST" });
  expect(response.status).toBe(200);
  return (await response.json()) as GenerationManifest;
}

const restore = ({ control }: Container, id: string) =>
  ask(`${control}/generations/${id}/restore`, {
    method: "POST",
    body: JSON.stringify({ config: "generation" }),
  });

/** Rows of the database as another process sees them. */
function count(home: string, query: string): number {
  const database = new DatabaseSync(join(home, "state.db"), { readOnly: true });
  try {
    return Number(database.prepare(query).get()?.["n"]);
  } finally {
    database.close();
  }
}

/** Below the scratch directory of a restore under way. */
function inScratch(home: string, path: string): boolean {
  const scratch = readdirSync(home).find((name) => name.startsWith(".restore-"));
  return scratch !== undefined && existsSync(join(home, scratch, path));
}

function marker(home: string): string {
  try {
    return readFileSync(join(home, "restore.json"), "utf8");
  } catch {
    return "";
  }
}

/** How far a restore has come when the supervisor is killed, and whether the next start finishes it. */
const POINTS: [string, boolean, (home: string) => boolean][] = [
  ["while it unpacks", false, (home) => inScratch(home, "new") && marker(home) === ""],
  ["once it is marked", true, (home) => marker(home) !== ""],
  [
    "while the copy is made that undoes it",
    true,
    (home) => backups(home).some((name) => name.includes(".tmp")),
  ],
  ["once it has begun", true, (home) => marker(home).includes('"begun":true')],
  ["while the folders are put in place", true, (home) => inScratch(home, "old/credentials")],
  ["before the config file is", true, (home) => inScratch(home, "old/workspace")],
];

function backups(home: string): string[] {
  return readdirSync(join(home, "backups"));
}

/** Kills a process at the moment in which something holds; false where the request ended before. */
async function killAt(
  process: RuntimeProcess,
  request: Promise<unknown>,
  holds: () => boolean,
): Promise<boolean> {
  const answered = request.then(
    () => true,
    () => true,
  );
  const turn = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)));
  let reached = holds();
  while (!reached && !(await Promise.race([answered, turn()]))) reached = holds();
  process.kill("SIGKILL");
  await Promise.all([answered, process.exited]);
  return reached;
}

/** Some moments are short, and a busy machine sleeps through them. */
const ATTEMPTS = 8;

/** A supervisor that was killed at that moment of a restore; `undefined` if that moment had passed. */
async function killedInRestore(at: (home: string) => boolean, finished: boolean) {
  const around = await container();
  const { home, start, state, url } = around;
  await writeConfig(home);
  for (const folder of ["workspace", "credentials"]) await mkdir(join(home, folder));
  const note = join(home, "workspace", "MEMORY.md");
  const allowed = join(home, "credentials", "slack-allowFrom.json");
  const write = async (text: string, senders: string[]) => {
    await writeFile(note, text);
    await writeFile(join(home, "workspace", "data"), randomBytes(3_000_000));
    await writeFile(allowed, JSON.stringify({ version: 1, allowFrom: senders }));
  };
  await write("before", ["U1"]);
  const process = start();
  await state("ready");
  await deliver(url, delivery("E1"));
  const { id } = await make(around);
  await write("after", ["U1", "U2"]);
  await deliver(url, delivery("E2"));
  const reached = await killAt(process, restore(around, id), () => at(home));
  // It may come further between the look and the kill: a mark half written, or a copy that no mark tells of.
  const isMarking = readdirSync(home).some((name) => name.startsWith("restore.json."));
  const isCopied = backups(home).filter((name) => name.endsWith(".json")).length > 1;
  const isTooLate = finished ? isCopied && marker(home).includes('"begun":false') : !at(home);
  return reached && !isMarking && !isTooLate ? { around, note, allowed } : undefined;
}

test.each(POINTS)(
  "a supervisor that is killed %s leaves all or nothing of a restore",
  async (_, finished, at) => {
    let killed = await killedInRestore(at, finished);
    for (let attempt = 1; killed === undefined && attempt < ATTEMPTS; attempt += 1) {
      killed = await killedInRestore(at, finished);
    }
    if (killed === undefined) throw new Error(`the moment did not come in ${ATTEMPTS} restores`);
    const { around, note, allowed } = killed;
    const { home, start, state, url } = around;
    start();
    await state("ready");

    const found = {
      note: await readFile(note, "utf8"),
      senders: (JSON.parse(await readFile(allowed, "utf8")) as { allowFrom: string[] }).allowFrom.length,
      messages: count(home, "SELECT count(*) AS n FROM messages"),
    };
    const [before, after] = [
      { note: "before", senders: 1, messages: 2 },
      { note: "after", senders: 2, messages: 4 },
    ];
    expect(found).toEqual(finished ? before : after);
    await expect
      .poll(async () => (await readdir(home)).filter((name) => name.includes("restore")))
      .toEqual([]);
    await expect.poll(() => backups(home).filter((name) => name.includes("tmp"))).toEqual([]);
    expect((await deliver(url, delivery("E3"))).status).toBe(200);
    const { generations } = await askJson<{ generations: GenerationManifest[] }>(
      `${around.control}/generations`,
    );
    expect(generations.map(({ counts }) => counts.messages)).toEqual(finished ? [4, 2] : [2]);
  },
);

/** So many messages that a copy takes longer than the next one needs to come. */
function fill(home: string, messages: number): void {
  const database = new DatabaseSync(join(home, "state.db"), { timeout: 5_000 });
  const number = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)";
  const row = "'slack:old', 'E' || n, 'user', hex(zeroblob(100)), 1";
  database
    .prepare(
      `${number} INSERT INTO messages (conversation, delivery, role, text, at) SELECT ${row} FROM number`,
    )
    .run(messages);
  database.close();
}

test("copies that are made while messages come are each of one moment", async () => {
  const around = await container();
  const { start, state, url } = around;
  await writeConfig(around.home);
  start();
  await state("ready");
  fill(around.home, 60_000);
  const made: GenerationManifest[] = [];
  const moments = () => new Set(made.map((manifest) => manifest.counts.messages)).size;
  const enough = new AbortController();
  const traffic = (async () => {
    for (let sent = 0; !enough.signal.aborted; sent += 1) await deliver(url, delivery(`E${sent}`));
  })();
  // Copies follow each other while messages come, however long one takes.
  while (moments() < 5) made.push(await make(around));
  enough.abort();
  await traffic;

  for (const manifest of [...made.slice(1, 4), ...made.slice(-1)]) {
    const archive = await (await ask(`${around.control}/generations/${manifest.id}`)).arrayBuffer();
    const other = await container({ STEWARD_AWAIT_RESTORE: "true" });
    other.start();
    await other.state("starting");
    const headers = { "steward-manifest": JSON.stringify(manifest) };
    const path = `${other.control}/restore?config=generation&start=false`;
    expect((await ask(path, { method: "POST", body: archive, headers })).status).toBe(200);
    const total = count(other.home, "SELECT messages AS n FROM session_totals");
    expect(total).toBe(manifest.counts.messages);
    expect(count(other.home, "SELECT sum(messages) AS n FROM sessions")).toBe(total);
  }
});

test("a workspace of 200 MB goes through without being held in memory", async () => {
  const around = await container();
  const { home, start, state } = around;
  await writeConfig(home);
  await mkdir(join(home, "workspace"));
  for (const name of ["a", "b"]) {
    for (let part = 0; part < 10; part += 1) {
      await writeFile(join(home, "workspace", name), randomBytes(10_000_000), { flag: "a" });
    }
  }
  const { pid } = start();
  await state("ready");
  const peak = async (): Promise<number> =>
    Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
  const before = await peak();

  const { id, size } = await make(around);
  expect(size).toBeGreaterThan(200_000_000);
  const download = await ask(`${around.control}/generations/${id}`);
  let received = 0;
  for await (const piece of download.body ?? []) received += piece.byteLength;
  expect(received).toBe(size);
  expect((await restore(around, id)).status).toBe(200);

  expect((await peak()) - before).toBeLessThan(120);
});
