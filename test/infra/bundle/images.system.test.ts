import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { baseImageRecipe, ensureBaseImage } from "../../../infra/bundle/base.ts";
import { prepareBaseImage } from "../../../rehearsal/base-image.ts";
import { dockerAvailable } from "../../../infra/shell/docker.ts";
import { ensureSidecarImage } from "../../../rehearsal/sidecar/index.ts";
import { CONTAINER_USER } from "../../../runtime/contract/names.ts";
import { SMALL_MALLOC, SMALL_HEAP } from "../../../runtime/supervisor/memory.ts";

/** A `docker` that keeps a note of what it was asked, has no image, and pulls only where the test lets it. */
const DOCKER = `#!/bin/sh
here=\${0%/*}
echo "$1 $2" >>"$here/asked"
case "$1" in
  version) echo "99.0.0 amd64" ;;
  pull) test -e "$here/registry" || { echo "no such host" >&2; exit 1; } ;;
  image) exit 1 ;;
esac
`;

const log = () => undefined;

test("the image starts and warms its programs with what the gateway is started with", async () => {
  const dockerfile = await readFile(new URL("../../../infra/bundle/Dockerfile", import.meta.url), "utf8");
  const node = ["node", ...SMALL_HEAP].map((word) => `"${word}"`).join(", ");
  expect(dockerfile).toContain(`RUN [${node}, "/app/host/warm.js"]`);
  expect(dockerfile).toContain(`ENTRYPOINT ["/usr/bin/tini", "--", ${node}]`);
  for (const [name, value] of Object.entries(SMALL_MALLOC)) expect(dockerfile).toContain(`${name}=${value}`);
});

describe("the images of the container rehearsal", () => {
  let home: string;
  let bin: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "steward-images-"));
    bin = join(home, "bin");
    await mkdir(bin);
    // Neither Go nor mmdebstrap of this machine is seen: the scripts need the shell alone.
    env = { HOME: home, XDG_CACHE_HOME: join(home, "cache"), PATH: bin };
  });

  afterEach(() => rm(home, { recursive: true, force: true }));

  async function script(name: string, text: string): Promise<void> {
    await writeFile(join(bin, name), text);
    await chmod(join(bin, name), 0o755);
  }

  const asked = async () => (await readFile(join(bin, "asked"), "utf8")).split("\n");

  test("no docker command and no engine are told apart", async () => {
    const none = await dockerAvailable(env);
    await script("docker", '#!/bin/sh\necho "Cannot connect to the Docker daemon" >&2\nexit 1\n');
    const silent = await dockerAvailable(env);

    expect(none).toEqual({ ok: false, reason: "the docker command is not installed" });
    expect(silent).toEqual({ ok: false, reason: "Cannot connect to the Docker daemon" });
    await expect(prepareBaseImage({ log, env })).rejects.toMatchObject({ code: "docker_unavailable" });
    await expect(ensureSidecarImage({ log, env })).rejects.toMatchObject({ code: "docker_unavailable" });
  });

  test("the public images are used where a registry answers", async () => {
    await script("docker", DOCKER);
    await writeFile(join(bin, "registry"), "");

    const base = await prepareBaseImage({ log, env });
    const sidecar = await ensureSidecarImage({ log, env });

    expect(base.source).toBe("pulled");
    expect(base.image).toMatch(/^steward-base:[0-9a-f]{16}-\d{4}-\d\d$/);
    expect(sidecar.source).toBe("pulled");
    expect(sidecar.image).toMatch(/^cloudflare\/proxy-everything:.+@sha256:/);
    expect(await asked()).not.toContain("import");
  });

  test("without a registry the base is assembled, once, and its archive kept", async () => {
    await script("docker", DOCKER);
    // The last argument is the archive to write.
    await script("mmdebstrap", '#!/bin/sh\nfor last; do :; done\necho debian >"$last"\n');

    const first = await prepareBaseImage({ log, env });
    await rm(join(bin, "mmdebstrap"));
    const second = await prepareBaseImage({ log, env });

    expect([first.source, second.source]).toEqual(["assembled", "assembled"]);
    const pulls = (await asked()).filter((line) => line.startsWith("pull"));
    expect(pulls).toHaveLength(1);
  });

  test("what is missing to make an image here is named, with the way to get it", async () => {
    await script("docker", DOCKER);

    await expect(prepareBaseImage({ log, env })).rejects.toMatchObject({
      code: "base_mmdebstrap_missing",
      fix: expect.stringContaining("apt-get install mmdebstrap"),
    });
    await expect(ensureSidecarImage({ log, env })).rejects.toMatchObject({ code: "sidecar_go_missing" });
  });

  test("a deployment takes the base from a registry alone, and says so where none answers", async () => {
    await script("docker", DOCKER);
    await script("mmdebstrap", `#!/bin/sh\ntouch "${bin}/assembled"\n`);

    await expect(ensureBaseImage({ log, env })).rejects.toMatchObject({
      code: "base_image_unreachable",
      fix: expect.stringContaining("`docker pull debian:bookworm-slim`"),
    });
    expect(await readdir(bin)).not.toContain("assembled");
  });

  test("a new base is made each month; without a registry the earlier one is used", async () => {
    await script("docker", DOCKER);
    const nameIn = async (day: string) => (await baseImageRecipe(env, new Date(day))).image;
    const [november, sameMonth, december] = await Promise.all(
      ["2026-11-01", "2026-11-30", "2026-12-01"].map(nameIn),
    );
    expect([sameMonth, december]).toEqual([november, november?.replace("2026-11", "2026-12")]);

    const [key] = (await nameIn("2001-01-01")).split("-2001-01");
    const images = [
      `${key}-2001-01`,
      `${key}-2001-02`,
      "steward-base:0123456789abcdef-2001-03",
      `${key}-9999-01`,
    ];
    await script("docker", DOCKER.replace("esac", `  images) printf '${images.join("\\n")}\\n' ;;\nesac`));
    const told: string[] = [];
    const base = await ensureBaseImage({ env, log: (line) => void told.push(line) });
    expect(base).toEqual({ image: `${key}-2001-02`, source: "present" });
    expect(told.at(-1)).toContain("later security updates");
  });

  test("a failed assembly tells mmdebstrap's last words", async () => {
    await script("docker", DOCKER);
    await script("mmdebstrap", "#!/bin/sh\necho 'E: cannot reach the archive' >&2\nexit 1\n");

    await expect(prepareBaseImage({ log, env })).rejects.toMatchObject({
      code: "base_assembly_failed",
      message: expect.stringContaining("cannot reach the archive"),
    });
  });
});

test("the base image's user is the one that data directories are checked for", async () => {
  const dockerfile = await readFile(
    new URL("../../../infra/bundle/base.Dockerfile", import.meta.url),
    "utf8",
  );
  expect(dockerfile).toContain(`steward:x:${CONTAINER_USER}:${CONTAINER_USER}:`);
});
