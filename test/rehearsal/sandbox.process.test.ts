import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { chooseContainerSetup } from "../../rehearsal/sandbox.ts";
import { temporaryDirectory } from "../runtime/support/processes.ts";

/** A Docker engine that has no image and reaches no registry, on a machine without mmdebstrap. */
const DOCKER = `#!/bin/sh
case "$1" in
  version) echo "99.0.0 amd64" ;;
  pull) echo "no such host" >&2; exit 1 ;;
  *) exit 1 ;;
esac
`;

const { PATH, XDG_CACHE_HOME } = process.env;
const lines: string[] = [];
let dir: string;
let bundle: Awaited<ReturnType<typeof buildBundle>>;

beforeEach(async () => {
  bundle = await buildBundle();
  dir = await temporaryDirectory();
  await mkdir(join(dir, "bin"));
  await writeFile(join(dir, "bin/docker"), DOCKER);
  await chmod(join(dir, "bin/docker"), 0o755);
  process.env["PATH"] = [join(dir, "bin"), "/nowhere"].join(delimiter);
  process.env["XDG_CACHE_HOME"] = join(dir, "cache");
  lines.length = 0;
});

afterEach(() => {
  process.env["PATH"] = PATH;
  if (XDG_CACHE_HOME === undefined) Reflect.deleteProperty(process.env, "XDG_CACHE_HOME");
  else process.env["XDG_CACHE_HOME"] = XDG_CACHE_HOME;
});

const choose = (choice: "auto" | "docker") =>
  chooseContainerSetup({ choice, bundle, dir, log: (line) => void lines.push(line) });

test("without a base image the container runs as a local process, and one line says why", async () => {
  const sandbox = await choose("auto");

  expect(sandbox.mode.kind).toBe("process");
  expect(lines.filter((line) => line.startsWith("No container on Docker"))).toEqual([
    "No container on Docker: the base image can be neither pulled nor assembled: mmdebstrap is not installed " +
      "[base_mmdebstrap_missing]. --sandbox docker shows the fix.",
  ]);
});

test("--sandbox docker keeps the error with its fix", async () => {
  await expect(choose("docker")).rejects.toMatchObject({
    code: "base_mmdebstrap_missing",
    fix: expect.stringContaining("apt-get install mmdebstrap"),
  });
});
