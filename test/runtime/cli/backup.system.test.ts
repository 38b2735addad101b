import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { steward } from "../support/cli.ts";
import { container } from "../support/container.ts";
import { writeConfig } from "../support/gateway.ts";

/** A data directory with a config and a note; no process runs on it yet. */
async function kept() {
  const around = await container();
  const { home, environment } = around;
  await writeConfig(home);
  await mkdir(join(home, "workspace"));
  const note = join(home, "workspace", "MEMORY.md");
  await writeFile(note, "likes tea");
  const run = (...args: string[]) => steward(environment, "backup", ...args);
  const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout) as unknown;
  return { ...around, note, run, json };
}

test("backups are made, listed and verified without any process; an unknown one is told", async () => {
  const { run, json, home } = await kept();
  expect((await run("list")).stdout).toBe("No backups.\n");
  const manifest = await json("create");
  expect(manifest).toMatchObject({ id: "00000001-00000001", configValid: true, counts: { files: 2 } });
  expect((await run("create")).stdout).toContain("Backup 00000001-00000002 was created");

  expect((await run("list")).stdout).toMatch(/^Id +Made[^\n]*\n00000001-00000002 [^\n]*\n00000001-00000001 /);
  expect(await json("list")).toMatchObject({ backups: [{ id: "00000001-00000002" }, manifest] });
  expect((await run("verify", "00000001-00000001")).stdout).toContain("is complete.\nIt contains 2 files");
  expect(await run("verify", "00000001-00000009")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is no backup 00000001-00000009."),
  });
  expect(await json("verify", "../../etc")).toMatchObject({ error: { code: "backup_unknown" } });
  expect(await json("restore", "00000001-00000001", "--config", "other")).toMatchObject({
    error: { code: "usage_invalid" },
  });
  expect((await readdir(home)).toSorted()).toEqual(["backups", "steward.json", "workspace"]);
});

test("a restore is only a check without --yes, and takes place at the next start with it", async () => {
  const { run, json, note, home, start, state } = await kept();
  await run("create");
  await writeFile(note, "likes coffee");
  expect(await json("restore", "00000001-00000001")).toMatchObject({ pending: false, counts: { files: 2 } });
  expect((await readdir(home)).filter((name) => name.includes("restore"))).toEqual([]);

  const restored = await run("restore", "00000001-00000001", "--yes");
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("Restart steward now") });
  expect(await readFile(note, "utf8")).toBe("likes coffee");
  await writeFile(note, "likes coffee with milk");
  start();
  await state("ready");

  expect(await readFile(note, "utf8")).toBe("likes tea");
  expect((await readdir(home)).filter((name) => name.includes("restore"))).toEqual([]);
  await run("restore", "00000002-00000001", "--yes");
  expect(await json("list")).toMatchObject({
    backups: [
      { id: "00000002-00000001", cause: "restore" },
      { id: "00000001-00000001", cause: "operator" },
    ],
  });
  expect((await run("list")).stdout).toMatch(
    /00000002-00000001 .* Before a restore .*\n00000001-00000001 .* On request /,
  );
});

test("one command at a time works on the backups", async () => {
  const { run } = await kept();
  const answers = await Promise.all(Array.from({ length: 4 }, () => run("create")));
  const made = answers.filter(({ code }) => code === 0).map(({ stdout }) => stdout);
  expect(new Set(made).size).toBe(made.length);
  const refused = answers.filter(({ code }) => code !== 0).map(({ stderr }) => stderr.split("\n")[0]);
  expect(refused).toEqual(refused.map(() => "Another backup or restore is in progress."));
  expect((await run("list")).stdout.trim().split("\n")).toHaveLength(made.length + 1);
});
