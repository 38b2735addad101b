import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { runProcess } from "../../../infra/shell/process.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const BUILD_MS = 120_000;
/** Prints each hash that a deployment is named by, and the content of the image's archive. */
const HASHES = `
  const { createHash } = await import("node:crypto");
  const { readFile } = await import("node:fs/promises");
  const { buildBundle } = await import("./infra/bundle/bundle.ts");
  const { contentKey } = await import("./infra/shell/cache.ts");
  const { hash, worker, container } = await buildBundle();
  const archive = createHash("sha256").update(await readFile(container.context + "/app.tar")).digest("hex");
  const base = await contentKey([], "infra/bundle", /^base\\.Dockerfile$/);
  const engine = await contentKey([], "rehearsal/engine/pulumi", /^go\\.(mod|sum)$/);
  console.log(JSON.stringify({ hash, worker: worker.hash, container: container.hash, archive, base, engine }));`;

let folder: string;
let repository: string;

async function succeed(command: string, args: readonly string[], options: Parameters<typeof runProcess>[2]) {
  const finished = await runProcess(command, args, options);
  expect(finished.code, `${command} ${args.join(" ")}\n${finished.stderr}`).toBe(0);
  return finished.stdout;
}

/** Puts the files of this work tree that git would commit into a repository of their own. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "steward-clones-"));
  repository = join(folder, "repository");
  await mkdir(repository);
  const env = { ...process.env, GIT_DIR: join(repository, ".git"), GIT_WORK_TREE: ROOT };
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
  await succeed("git", ["init", "--quiet"], { cwd: ROOT, env });
  await succeed("git", ["add", "--all", "."], { cwd: ROOT, env });
  await succeed("git", [...identity, "commit", "--quiet", "--message", "all"], { cwd: ROOT, env });
  return () => rm(folder, { recursive: true, force: true });
}, BUILD_MS);

/** Clones with git's settings of one machine, under a umask, which also holds for the build. */
async function clone(name: string, umask: string, ...settings: string[]) {
  const root = join(folder, name);
  const words = settings.flatMap((setting) => ["-c", setting]);
  const under = (...command: string[]) => ["-c", 'umask "$0" && exec "$@"', umask, ...command];
  await succeed("sh", under("git", ...words, "clone", "--quiet", repository, root), {});
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  const hashes = async (): Promise<unknown> => {
    const build = under(process.execPath, "--input-type=module", "--eval", HASHES);
    return JSON.parse(await succeed("sh", build, { cwd: root }));
  };
  return { root, hashes };
}

describe("hashes that name what is deployed", () => {
  test(
    "are equal for clones with other line endings, another umask and another path",
    async () => {
      const usual = await (await clone("usual", "022")).hashes();
      const windows = await clone("a/deeper/folder", "077", "core.autocrlf=true", "core.eol=crlf");
      expect(await readFile(join(windows.root, "infra/bundle/Dockerfile"), "utf8")).not.toContain("\r");
      expect(await windows.hashes()).toEqual(usual);

      const here = await runProcess(process.execPath, ["--input-type=module", "--eval", HASHES], {
        cwd: ROOT,
      });
      expect(JSON.parse(here.stdout)).toEqual(usual);
    },
    BUILD_MS,
  );

  test(
    "are equal for a clone from before .gitattributes, whose files have CRLF",
    async () => {
      const usual = await (await clone("lf", "022")).hashes();
      const old = await clone("crlf", "022");
      const listed = await succeed("git", ["ls-files", "infra", "runtime", "rehearsal/engine"], {
        cwd: old.root,
      });
      // Git changes no line ending in a picture.
      for (const name of listed
        .trim()
        .split("\n")
        .filter((name) => !name.endsWith(".png"))) {
        const file = join(old.root, name);
        await writeFile(file, (await readFile(file, "utf8")).replaceAll("\n", "\r\n"));
      }
      expect(await old.hashes()).toEqual(usual);
    },
    BUILD_MS,
  );

  test(
    "depend on the content",
    async () => {
      const changed = await clone("changed", "022");
      const before = await changed.hashes();
      const dockerfile = join(changed.root, "infra/bundle/Dockerfile");
      await writeFile(dockerfile, `${await readFile(dockerfile, "utf8")}# one line more\n`);
      expect(await changed.hashes()).not.toEqual(before);
    },
    BUILD_MS,
  );
});

test("git changes no line ending of a tracked file", async () => {
  const lines = (await succeed("git", ["ls-files", "--eol"], { cwd: repository })).trim().split("\n");
  const odd = lines.filter((line) => !/^i\/(?:lf|none) .*eol=lf|^i\/-text .*attr\/-text/.test(line));
  expect(odd).toEqual([]);
});
