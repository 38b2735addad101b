import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BuildFailure } from "../../../infra/build/failure.ts";
import { ensureEngine } from "../../../infra/rehearsal/engine/index.ts";

/** A `go` that says its version and builds a "pulumi" that says its own, leaving a line for every build. */
const GO = `#!/bin/sh
here=$(dirname "$0")
if [ "$1" = env ]; then echo go1.30.0; exit; fi
echo "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi" >&2
echo built >>"$here/builds"
sleep 1
while [ "$1" != -o ]; do shift; done
mkdir -p "$(dirname "$2")"
cp "$here/new-pulumi" "$2"
`;

async function script(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
}

describe("where the engine comes from", () => {
  let home: string;
  let bin: string;
  let env: NodeJS.ProcessEnv;
  let lines: string[];
  const log = (line: string) => void lines.push(line);

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "steward-sources-"));
    bin = join(home, "bin");
    await mkdir(bin);
    // Without the system's folders, no engine and no Go of this machine are seen.
    env = { HOME: home, XDG_CACHE_HOME: join(home, "cache"), PATH: bin };
    lines = [];
  });

  afterEach(() => rm(home, { recursive: true, force: true }));

  const pulumi = (version: string) => script(join(bin, "pulumi"), `#!/bin/sh\necho ${version}\n`);
  const plugin = (name: string, version: string) =>
    script(
      join(home, ".pulumi", "plugins", `resource-${name}-v${version}`, `pulumi-resource-${name}`),
      "#!/bin/sh\n",
    );

  async function workingGo(): Promise<void> {
    env["PATH"] = `${bin}:/usr/bin:/bin`;
    await script(join(bin, "go"), GO);
    await script(join(bin, "new-pulumi"), "#!/bin/sh\necho v3.250.0\n");
  }

  test("the pulumi on PATH with its plugins comes first, and keeps the person's own home", async () => {
    await pulumi("v3.270.1");
    await plugin("cloudflare", "6.99.0");
    await plugin("command", "4.99.0");

    const engine = await ensureEngine({ log, env });

    expect(engine).toMatchObject({
      cli: join(bin, "pulumi"),
      version: "3.270.1",
      source: "path",
      official: { cloudflare: true, command: true, docker: false },
    });
    expect(engine.env["PULUMI_HOME"]).toBe(join(home, ".pulumi"));
  });

  test("a plugin of another major version, an older one and a half unpacked one don't count", async () => {
    await pulumi("v3.270.1");
    await plugin("cloudflare", "5.49.0");
    await plugin("command", "4.0.0");
    await plugin("docker", "5.99.0");
    await writeFile(join(home, ".pulumi", "plugins", "resource-docker-v5.99.0.partial"), "");

    const engine = await ensureEngine({ log, env });

    expect(engine.official).toEqual({ cloudflare: false, command: false, docker: false });
  });

  test("the cache comes before a pulumi on PATH that lacks its plugins, which comes before a build", async () => {
    await pulumi("v3.270.1");
    await workingGo();

    const alone = await ensureEngine({ log, env });
    await rm(join(bin, "pulumi"));
    const built = await ensureEngine({ log, env });
    await pulumi("v3.270.1");
    const cached = await ensureEngine({ log, env });

    expect([alone.source, built.source, cached.source]).toEqual(["path", "built", "cache"]);
    expect(cached.cli).toBe(built.cli);
    expect(built.cli.startsWith(join(home, "cache", "steward"))).toBe(true);
  });

  test("the project's own engine gets the official plugins that are installed", async () => {
    await workingGo();
    await plugin("command", "4.99.0");

    const engine = await ensureEngine({ log, env });

    expect(engine.official).toEqual({ cloudflare: false, command: true, docker: false });
    const pulumiHome = engine.env["PULUMI_HOME"] ?? "";
    expect(dirname(pulumiHome)).toBe(dirname(dirname(engine.cli)));
    const plugins = await readdir(join(pulumiHome, "plugins"));
    expect(plugins.some((name) => name.startsWith("resource-command-v4."))).toBe(true);
  });

  test("the project's own engine has nowhere to keep a log of every run, and what was kept goes", async () => {
    await workingGo();
    const { env: first } = await ensureEngine({ log, env });
    const logs = join(first["PULUMI_HOME"] ?? "", "logs");
    const isFile = async () => (await stat(logs)).isFile();
    expect(await isFile()).toBe(true);

    await rm(logs);
    await mkdir(logs);
    await writeFile(join(logs, "pulumi-20260101T000000-1.log"), "");
    await ensureEngine({ log, env });

    expect(await isFile()).toBe(true);
  });

  test("an older pulumi on PATH is passed over", async () => {
    await pulumi("v3.100.0");

    await expect(ensureEngine({ log, env })).rejects.toMatchObject({ code: "engine_go_missing" });
  });

  test("two at once build it once", async () => {
    await workingGo();

    const engines = await Promise.all([ensureEngine({ log, env }), ensureEngine({ log, env })]);

    expect(engines.map(({ source }) => source).sort()).toEqual(["built", "cache"]);
    expect(await readFile(join(bin, "builds"), "utf8")).toBe("built\n");
    expect(lines).toContain("another process is building the same: waiting for it");
  });

  test("without Go it says so, and what to do", async () => {
    const failure: unknown = await ensureEngine({ log, env }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(BuildFailure);
    expect(failure).toMatchObject({
      code: "engine_go_missing",
      fix: expect.stringContaining("https://go.dev/doc/install"),
    });
  });

  test("a Go that is too old is named", async () => {
    await script(join(bin, "go"), "#!/bin/sh\necho go1.20.3\n");

    await expect(ensureEngine({ log, env })).rejects.toMatchObject({
      code: "engine_go_missing",
      message: expect.stringContaining("it is go1.20.3"),
    });
  });

  test("a failed build tells Go's last words and leaves nothing in the cache", async () => {
    await workingGo();
    await script(
      join(bin, "go"),
      '#!/bin/sh\nif [ "$1" = env ]; then echo go1.30.0; exit; fi\necho "no such module" >&2\nexit 1\n',
    );

    await expect(ensureEngine({ log, env })).rejects.toMatchObject({
      code: "engine_build_failed",
      message: expect.stringContaining("no such module"),
    });
    const left = await readdir(join(home, "cache", "steward", "engine"));
    expect(left.filter((name) => !name.endsWith(".lock"))).toEqual([]);
  });
});
