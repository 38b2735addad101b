import { existsSync } from "node:fs";
import { appendFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "vitest";
import { runProcess } from "../../infra/shell/process.ts";
import { listenOnLoopback, type LoopbackServer } from "../../rehearsal/loopback.ts";
import { execute } from "../../scripts/execute.ts";
import { githubStandIn, type GitHubStandIn } from "./github-stand-in.ts";
import { startPackageRegistry } from "./verdaccio.ts";

/** A repository that releases versions to places on this machine. */
export interface ReleaseWorld {
  /** Folder of everything here, and for what a test writes. */
  folder: string;
  /** A copy of this checkout, with a commit whose changelog has one unreleased change. */
  root: string;
  /** The bare repository that the copy pushes to. */
  remote: string;
  github: GitHubStandIn;
  /** Token that GitHub's stand-in accepts. */
  token: string;
  /** Variables of a workflow that the tag of the version has started, and of the places. */
  environment: Record<string, string>;
  /** Types a line that has to succeed. Default folder: the copy. */
  types(line: string, cwd?: string): Promise<string>;
  /** Types a line that has to end with 1 in the copy. Returns all that it printed. */
  fails(line: string): Promise<string>;
  /** Sets how many runs of check.yml have passed for the commit. */
  setChecks(passed: number): Promise<void>;
  close(): Promise<void>;
}

const TOKEN = "the-token-of-github-0123456789";
const CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n- A change of the test.\n";
/** In place of the test that installs the package, which has a run of its own. */
const SHORT_TEST = `
import { existsSync } from "node:fs";
import { expect, test } from "vitest";

test("the package that was built is named", () => expect(existsSync(process.env["STEWARD_PACKAGE"])).toBe(true));
`;

/**
 * Makes a repository of this checkout's files, with Verdaccio for npm, a bare repository, a stand-in for GitHub's
 * releases, and a `gh` that counts the runs of check.yml; see test/workflows/run.engine.test.ts for that.
 *
 * @param version that its workflow releases
 * @param cosign executable that signs, with a key
 */
export async function startReleaseWorld(version: string, cosign: string): Promise<ReleaseWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), "steward-release-"));
  const [root, remote, bin] = ["checkout", "remote.git", "bin"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const registry = await startPackageRegistry();
  const github = githubStandIn(() => server.url, TOKEN);
  const server: LoopbackServer = await listenOnLoopback(createAdaptorServer(github.app) as never, 0);
  const environment = {
    PATH: [bin, path.dirname(cosign), process.env["PATH"]].join(path.delimiter),
    npm_config_registry: registry.url,
    npm_config_userconfig: registry.settings,
    COSIGN_PASSWORD: "the-password-of-the-key",
    RELEASE_KEY: path.join(folder, "cosign.key"),
    GITHUB_API_URL: server.url,
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_REPOSITORY: "example/steward",
    GITHUB_REF_TYPE: "tag",
    GITHUB_REF_NAME: `release-${version}`,
  };
  const env = { ...process.env, ...environment };
  const world: ReleaseWorld = {
    folder,
    root,
    remote,
    github,
    token: TOKEN,
    environment,
    types: (line, cwd = root) => execute("bash", ["-e", "-c", line], { cwd, env }),
    async fails(line) {
      const { code, stdout, stderr } = await runProcess("bash", ["-c", line], { cwd: root, env });
      expect(code).toBe(1);
      return stdout + stderr;
    },
    setChecks: (passed) => writeFile(path.join(bin, "passed"), `${passed}\n`),
    async close() {
      await server.close();
      await registry.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await mkdir(bin);
  await writeFile(path.join(bin, "gh"), `#!/bin/sh\ncat "${bin}/passed"\n`, { mode: 0o755 });
  await world.setChecks(1);
  await world.types("cosign generate-key-pair", folder);
  await copyRepository(world);
  return world;
}

async function copyRepository({ folder, root, remote, types }: ReleaseWorld): Promise<void> {
  const listed = await execute("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  const files = listed.split("\0").filter((name) => name !== "" && existsSync(name));
  for (const file of files) await cp(file, path.join(root, file));
  // Not one symbolic link: for `npm sbom` the packages would be those of another project.
  const packages = `"${path.resolve("node_modules")}"`;
  await types(`cp -al ${packages} . 2>/dev/null || cp -a ${packages} .`);
  await writeFile(path.join(root, "CHANGELOG.md"), CHANGELOG);
  await writeFile(path.join(root, "test/release/installed.engine.test.ts"), SHORT_TEST);
  await types(`git init --quiet --bare --initial-branch=main "${remote}"`, folder);
  await types("git init --quiet --initial-branch=main");
  await appendFile(path.join(root, ".git/info/exclude"), "node_modules\n");
  await types(
    `git config user.name a && git config user.email a@b.test && git remote add origin "${remote}"`,
  );
  await types("git add --all && git commit --quiet --message before");
}
