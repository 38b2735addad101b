import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { VERSION } from "../../runtime/contract/names.ts";
import { openHost } from "./host.ts";
import { placed, portable, unpack } from "./packed.ts";
import { RELEASES, upgradeMatrix } from "./releases.ts";
import { openServerless } from "./serverless.ts";

const MAX_BYTES = 1024 * 1024;
/** An absolute path at whose end a checkout, or a home, has its files. Containers have theirs in /app and /root/.steward. */
const PLACE =
  /(?<![\w.:/)\]}*-])\/(?!app\/|checkout\/|tmp\/|var\/)(?:[\w.@-]+\/)+(?:node_modules|infra|dist|stacks|rehearsal|test)\/|\/(?:home|Users|work)\/[\w.-]+/g;

describe.each(RELEASES)("the archive of $release", ({ release }) => {
  const folder = path.join(import.meta.dirname, release);
  let dir: string;
  let files: string[];

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "steward-archives-"));
    for (const name of ["host", "serverless", "program"])
      await unpack(path.join(folder, `${name}.tar.zst`), path.join(dir, name));
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name));
  });

  afterAll(() => rm(dir, { recursive: true, force: true }));

  test("names no place of the machine that made it", async () => {
    const found: string[] = [];
    for (const file of files) {
      const text = await readFile(file, "latin1");
      for (const [place] of text.matchAll(PLACE)) found.push(`${path.relative(dir, file)}: ${place}`);
    }
    expect(files.length).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });

  test("is less than 1 MiB", async () => {
    const sizes = await Promise.all((await readdir(folder)).map((file) => stat(path.join(folder, file))));
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(MAX_BYTES);
  });
});

test("a state names the machine's places again where it is opened", () => {
  const state = {
    create: "/home/me/steward/infra/readiness/probe.ts",
    interpreter: ["/opt/node/bin/node"],
    test: ["CMD", "node"],
    sourcePosition: "file:///home/me/steward/stacks/program.ts",
  };
  const text = portable(state, "/home/me/steward");
  expect(JSON.parse(text)).toEqual({
    create: "/checkout/infra/readiness/probe.ts",
    interpreter: ["/node"],
    test: ["CMD", "node"],
  });
  expect(JSON.parse(placed(text))).toEqual({
    create: path.resolve("infra/readiness/probe.ts"),
    interpreter: [process.execPath],
    test: ["CMD", "node"],
  });
});

test("the present version is archived: `npm run archive -- <version>`, then its name in RELEASES", () => {
  expect(RELEASES.map(({ release }) => release)).toContain(VERSION);
});

test("the upgrade matrix in docs/upgrades.md is that of the archives", async () => {
  const page = await readFile("docs/upgrades.md", "utf8");
  const [table = ""] = /^\| from \|[^]*?(?=\n\n)/m.exec(page) ?? [];
  const rows = table.split("\n").slice(2);
  expect(rows).toEqual(upgradeMatrix());
});

test("a start that fails leaves nothing on the machine", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-archives-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  vi.stubEnv("TMPDIR", dir);
  for (const open of [openServerless, openHost]) await expect(open("no-release")).rejects.toThrow("ENOENT");
  vi.unstubAllEnvs();
  expect(await readdir(dir)).toEqual([]);
});
