import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { ensureEngine } from "../../../rehearsal/engine/index.ts";

/** A `go` that builds, once `hold` is gone, a "pulumi" that says its version, leaving a line for every build. */
const GO = `#!/bin/sh
here=$(dirname "$0")
if [ "$1" = env ]; then echo go1.30.0; exit; fi
if [ "$1" = mod ]; then echo "{\\"Dir\\":\\"$here/module\\"}"; exit; fi
echo "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi" >&2
echo built >>"$here/builds"
while [ -e "$here/hold" ]; do sleep 0.05; done
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

  /** The providers of a home: where each one's link leads, or `own` for the rehearsal's launcher. */
  async function pluginsOf(pulumiHome: string): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of await readdir(join(pulumiHome, "plugins"))) {
      const provider = /^resource-(\w+)-v/.exec(name)?.[1];
      if (provider === undefined) continue;
      const executable = join(pulumiHome, "plugins", name, `pulumi-resource-${provider}`);
      found[provider] = await readlink(executable).catch(() => "own");
    }
    return found;
  }

  async function workingGo(): Promise<void> {
    env["PATH"] = `${bin}:/usr/bin:/bin`;
    await script(join(bin, "go"), GO);
    for (const file of ["frequency/frequency.go", "matching/matching.go"]) {
      await script(join(bin, "module", file), "package meter\n");
    }
    await script(join(bin, "new-pulumi"), "#!/bin/sh\necho v3.250.0\n");
  }

  test("the pulumi on PATH comes first, with a home of the rehearsal's and the person's plugins", async () => {
    await pulumi("v3.270.1");
    await plugin("cloudflare", "6.99.0");
    await plugin("command", "4.99.0");

    const engine = await ensureEngine({ log, env });

    expect(engine).toMatchObject({
      cli: join(bin, "pulumi"),
      version: "3.270.1",
      source: "path",
      official: { cloudflare: true, command: true },
    });
    const pulumiHome = engine.env["PULUMI_HOME"] ?? "";
    expect(pulumiHome.startsWith(join(home, "cache", "steward"))).toBe(true);
    expect(await pluginsOf(pulumiHome)).toEqual({
      cloudflare: expect.stringContaining(join(home, ".pulumi", "plugins", "resource-cloudflare-v6.99.0")),
      command: expect.stringContaining(join(home, ".pulumi", "plugins", "resource-command-v4.99.0")),
    });
  });

  test("a plugin of another major version, an older one and a half unpacked one don't count", async () => {
    await pulumi("v3.270.1");
    await plugin("cloudflare", "5.49.0");
    await plugin("command", "4.0.0");
    await plugin("docker", "5.99.0");
    await writeFile(join(home, ".pulumi", "plugins", "resource-docker-v5.99.0.partial"), "");

    const engine = await ensureEngine({ log, env });

    expect(engine.official).toEqual({ cloudflare: false, command: false });
    // The rehearsal's own take their places, in its own home alone.
    expect(await pluginsOf(engine.env["PULUMI_HOME"] ?? "")).toEqual({ cloudflare: "own", command: "own" });
    expect((await readdir(join(home, ".pulumi", "plugins"))).sort()).toEqual([
      "resource-cloudflare-v5.49.0",
      "resource-command-v4.0.0",
      "resource-docker-v5.99.0",
      "resource-docker-v5.99.0.partial",
    ]);
  });

  test("a pulumi on PATH comes before the cache, which comes before a build", async () => {
    await workingGo();

    const built = await ensureEngine({ log, env });
    const cached = await ensureEngine({ log, env });
    await pulumi("v3.270.1");
    const installed = await ensureEngine({ log, env });

    expect([built.source, cached.source, installed.source]).toEqual(["built", "cache", "path"]);
    expect(cached.cli).toBe(built.cli);
    expect(built.cli.startsWith(join(home, "cache", "steward"))).toBe(true);
  });

  test("the project's own engine gets the official plugins that are installed", async () => {
    await workingGo();
    await plugin("command", "4.99.0");

    const engine = await ensureEngine({ log, env });

    expect(engine.official).toEqual({ cloudflare: false, command: true });
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
    const hold = join(bin, "hold");
    await writeFile(hold, "");

    const both = Promise.all([ensureEngine({ log, env }), ensureEngine({ log, env })]);
    await expect.poll(() => lines).toContain("waiting for another process that is building the same");
    await rm(hold);
    const engines = await both;

    expect(engines.map(({ source }) => source).sort()).toEqual(["built", "cache"]);
    expect(await readFile(join(bin, "builds"), "utf8")).toBe("built\n");
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
