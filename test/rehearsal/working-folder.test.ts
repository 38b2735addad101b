import { mkdir, mkdtemp, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { linkProject } from "../../rehearsal/stack.ts";

test.each(["is there", "is gone"])(
  "a rehearsal that another checkout began goes on with this one's code, where the other %s",
  async (state) => {
    const dir = await mkdtemp(join(tmpdir(), "steward-working-folder-"));
    onTestFinished(() => rm(dir, { recursive: true }));
    const other = join(dir, "other/infra");
    if (state === "is there") await mkdir(other, { recursive: true });
    await symlink(other, join(dir, "infra"));

    await linkProject(dir);
    expect(await readlink(join(dir, "infra"))).toBe(resolve("infra"));
    expect(await readlink(join(dir, "node_modules"))).toBe(resolve("node_modules"));
  },
);
