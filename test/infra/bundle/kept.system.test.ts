import { execFile } from "node:child_process";
import {
  appendFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import type { Bundle } from "../../../infra/bundle/bundle.ts";
import { temporaryDirectory } from "../../runtime/support/processes.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const WORKER = "runtime/worker/worker.ts";
const LINE = 'console.log("another line");\n';

/** Four builds, on a busy machine. */
const SLOW = { timeout: 240_000 };

describe("a bundle that was built before", SLOW, () => {
  let checkout: string;

  beforeEach(async () => {
    checkout = await temporaryDirectory();
    for (const name of ["runtime", "infra", "package.json", "package-lock.json", "tsconfig.json"]) {
      await cp(join(ROOT, name), join(checkout, name), { recursive: true });
    }
    await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  });

  test("is used as long as its sources hold the same, and is built anew with the first that does not", async () => {
    const first = await built();
    const written = await stat(entryFile());
    await utimes(join(checkout, WORKER), new Date(), new Date());

    expect(await built()).toEqual(first);
    expect((await stat(entryFile())).mtimeMs).toBe(written.mtimeMs);

    await appendFile(join(checkout, WORKER), LINE);
    const changed = await built();
    expect(changed.worker.hash).not.toBe(first.worker.hash);
    expect(changed.container.hash).toBe(first.container.hash);
    await expect(readFile(changed.worker.files[0]?.path ?? "", "utf8")).resolves.toContain("another line");

    // Of the image, and read by no bundler.
    await appendFile(join(checkout, "infra/bundle/Dockerfile"), "USER nobody\n");
    expect((await built()).container.hash).not.toBe(changed.container.hash);
  });

  test("is not used once a package's file is another", async () => {
    const [from, packages] = [join(ROOT, "node_modules"), join(checkout, "node_modules")];
    await rm(packages);
    await mkdir(packages);
    for (const name of await readdir(from)) {
      // One that may be changed, and the rest as they are.
      if (name === "hono") await cp(join(from, name), join(packages, name), { recursive: true });
      else await symlink(join(from, name), join(packages, name));
    }
    const first = await built();

    await appendFile(join(checkout, "node_modules/hono/dist/hono.js"), LINE);

    expect((await built()).worker.hash).not.toBe(first.worker.hash);
  });

  test.each([
    ["is cut off", (text: string) => text.slice(0, 200)],
    ["is of another form", () => '{"made":"","read":[],"used":"","result":{"worker":1}}'],
  ])("is built again where what is kept of it %s", async (_, damage) => {
    const first = await built();
    const entry = await readFile(entryFile(), "utf8");
    await writeFile(entryFile(), damage(entry));

    expect(await built()).toEqual(first);
    expect(await readFile(entryFile(), "utf8")).toBe(entry);
  });

  test("is built again where its files are gone", async () => {
    const first = await built();
    await rm(join(checkout, "dist", `worker-${first.worker.hash}`), { recursive: true });

    expect(await built()).toEqual(first);
    await expect(readFile(first.worker.files[0]?.path ?? "", "utf8")).resolves.not.toBe("");
  });

  const entryFile = (): string => join(checkout, "dist/built.json");

  /** The bundle of the checkout as it is now, by a process of its own. */
  async function built(): Promise<Bundle> {
    const module = pathToFileURL(join(checkout, "infra/bundle/bundle.ts")).href;
    const script = `import { buildBundle } from "${module}"; console.log(JSON.stringify(await buildBundle()));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    return JSON.parse(stdout) as Bundle;
  }
});
