import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { buildBundle } from "../../../infra/build/bundle.ts";
import { VERSION } from "../../../runtime/contract/names.ts";
import { temporaryDirectory } from "../../runtime/support/processes.ts";

test("the container bundle holds the command line, ready to be run by its name", async () => {
  const outdir = await temporaryDirectory();
  const { container } = await buildBundle({ outdir });
  const command = join(container.dir, "bin", "steward");
  const env = { PATH: process.env["PATH"], STEWARD_HOME: outdir };

  const version = await promisify(execFile)(command, ["--version"], { env });
  const list = await promisify(execFile)(command, ["pairing", "list", "slack"], { env });

  expect(await readFile(join(container.dir, "bundle"), "utf8")).toBe(`${container.hash}\n`);
  expect(version.stdout).toBe(`${VERSION}\n`);
  expect(list.stdout).toBe("No pending slack pairing requests.\n");
});
