import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type DatabaseSetAside, openDatabase } from "../../../runtime/process/database.ts";
import { deliver, delivery, startGateway, surroundings } from "../support/gateway.ts";
import { steward } from "../support/cli.ts";
import { temporaryDirectory } from "../support/processes.ts";

const GARBAGE = "this is no database. ".repeat(500);

test("a state.db that is no database is set aside with a report; status and doctor tell of it", async () => {
  const { home, url, environment } = await surroundings();
  writeFileSync(join(home, "state.db"), GARBAGE);
  const doctor = await steward(environment, "doctor", "--json");
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toContain('"store_corrupt"');

  const gateway = await startGateway(environment);

  expect(gateway.stdout()).toContain("a store could not be read and was set aside");
  const aside = readdirSync(home).find((name) => name.startsWith("state.db.corrupt-"));
  expect(readFileSync(join(home, aside ?? ""), "utf8")).toBe(GARBAGE);
  expect((await deliver(url, delivery("E1"))).status).toBe(200);
  expect((await steward(environment, "status")).stdout).toContain(`${aside} was set aside`);
  expect((await steward(environment, "doctor")).stdout).toContain(`${aside} could not be read`);
});

test("a database whose pages are broken is set aside too, with what belongs to it", async () => {
  const path = join(await temporaryDirectory(), "state.db");
  const database = openDatabase(path);
  database.exec("CREATE TABLE t (a TEXT)");
  database.prepare("INSERT INTO t VALUES (?)").run("x".repeat(20_000));
  database.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4_096, 8_192);
  writeFileSync(path, bytes);

  const reports: DatabaseSetAside[] = [];
  openDatabase(path, (report) => reports.push(report)).close();

  expect(reports).toHaveLength(1);
  expect(readFileSync(reports[0]?.movedTo ?? "").equals(bytes)).toBe(true);
});

test("a database that another process has open is not set aside under its hands", async () => {
  const path = join(await temporaryDirectory(), "state.db");
  const held = openDatabase(path);
  writeFileSync(path, GARBAGE);

  expect(() => openDatabase(path)).toThrowError(expect.objectContaining({ code: "store_corrupt" }));
  held.close();
  writeFileSync(path, GARBAGE);
  const reports: DatabaseSetAside[] = [];
  openDatabase(path, (report) => reports.push(report)).close();
  expect(reports).toHaveLength(1);
});

/** A file system of 1 MiB, or why there is none. */
function tinyDisk(directory: string): string | undefined {
  mkdirSync(directory, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory], { stdio: "pipe" });
  } catch (error) {
    return error instanceof Error ? error.message : "mount failed";
  }
  onTestFinished(() => void execFileSync("umount", ["-l", directory]));
  return undefined;
}

test("a full disk postpones deliveries; with room again they go out by themselves", async (context) => {
  const { home, url, environment, slack } = await surroundings();
  const disk = join(home, "disk");
  const refused = tinyDisk(disk);
  if (refused !== undefined) return context.skip(`no file system could be mounted: ${refused}`);
  await startGateway({ ...environment, STEWARD_HOME: disk });
  const filler = join(disk, "filler");
  for (let size = 1_048_576; size >= 512; size = Math.floor(size / 2)) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full at this size; the next is smaller.
    }
  }

  const long = { text: `<@UBOT> ${"word ".repeat(2_000)}` };
  const full = await deliver(url, delivery("E1", long));
  expect({ status: full.status, code: full.answer["code"] }).toEqual({ status: 503, code: "disk_full" });
  expect(slack.posts()).toEqual([]);

  rmSync(filler);
  expect((await deliver(url, delivery("E1", long))).status).toBe(200);
  expect(slack.posts().length).toBeGreaterThan(0);
});
