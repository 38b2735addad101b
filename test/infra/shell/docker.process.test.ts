import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { imageId } from "../../../infra/shell/docker.ts";
import { temporaryDirectory } from "../../runtime/support/processes.ts";

/** The environment in which `docker` runs this shell command. */
async function withDocker(command: string): Promise<NodeJS.ProcessEnv> {
  const folder = await temporaryDirectory();
  await writeFile(join(folder, "docker"), `#!/bin/sh\n${command}\n`);
  await chmod(join(folder, "docker"), 0o755);
  return { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
}

test("an engine that does not answer in time is no proof that it lacks an image", async () => {
  const env = await withDocker("exec sleep 50");
  await expect(imageId("steward:1", env)).rejects.toMatchObject({
    code: "docker_unavailable",
    message: expect.stringContaining("did not answer within 10 s"),
  });
});

test("an image that the engine does not have has no id", async () => {
  const env = await withDocker("echo 'Error: No such image: steward:1' >&2; exit 1");
  expect(await imageId("steward:1", env)).toBeUndefined();
  expect(await imageId("steward:1", await withDocker("echo sha256:1"))).toBe("sha256:1");
});
