import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const CONTAINER = JSON.stringify([
  { Id: "1", State: { Running: false }, Config: { Labels: null, Env: [] }, Mounts: [] },
]);

/** Script that simulates an engine with every image, no volume, and the container named in STAND_IN_CONTAINER. */
const COMMAND = `#!/bin/sh
[ "$1 $2 $3" = "container inspect $STAND_IN_CONTAINER" ] && echo '${CONTAINER}' && exit
case "$1 $2 $3" in
  "version --format "*) echo "28.0.0 amd64" ;;
  "info --format "*) echo '{"MemTotal":8589934592,"NCPU":4,"DockerRootDir":"/","SecurityOptions":[]}' ;;
  "image inspect --format") echo "sha256:${"a".repeat(64)}" ;;
  ps*) ;;
  *) echo "Error: No such $1" >&2; exit 1 ;;
esac
`;

/** Puts a simulated `docker` first on PATH. Returns a function that removes it. */
export async function standInDocker(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "steward-docker-"));
  const file = join(folder, "docker");
  await writeFile(file, COMMAND);
  await chmod(file, 0o755);
  const { PATH: before } = process.env;
  process.env["PATH"] = [folder, before ?? ""].join(delimiter);
  return async () => {
    process.env["PATH"] = before;
    await rm(folder, { recursive: true });
  };
}
