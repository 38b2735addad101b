import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { run } from "../../infra/shell/process.ts";
import { listenOnLoopback, type LoopbackServer } from "../../rehearsal/loopback.ts";
import { execute } from "../../scripts/execute.ts";
import { LocalRunner, type JobResult } from "../workflows/runner.ts";
import { cosign } from "./cosign.ts";
import { githubStandIn, type GitHubStandIn } from "./github-stand-in.ts";
import { type PackageRegistry, startPackageRegistry } from "./verdaccio.ts";

const VERSION = "9.1.0";
const FILE = `steward-gateway-${VERSION}.tgz`;
const TOKEN = "the-token-of-github-0123456789";
const BUILD_MS = 20 * 60_000;
const RUN_MS = 5 * 60_000;

/** In place of the test that installs the package, which has a run of its own. */
const SHORT_TEST = `
import { existsSync } from "node:fs";
import { expect, test } from "vitest";

test("the package that was built is named", () => expect(existsSync(process.env["STEWARD_PACKAGE"])).toBe(true));
`;

const signer = await cosign();
if ("missing" in signer) process.stderr.write(`skipped: the release workflow (${signer.missing})\n`);

/** A release from a copy of this checkout: of release.yml everything runs but what needs an engine of its processor. */
describe.skipIf("missing" in signer)("release.yml, step by step", () => {
  let folder: string;
  let root: string;
  let remote: string;
  let registry: PackageRegistry;
  let github: GitHubStandIn;
  let server: LoopbackServer;
  let runner: LocalRunner;
  let environment: Record<string, string>;
  let source: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "steward-release-"));
    root = path.join(folder, "checkout");
    remote = path.join(folder, "remote.git");
    registry = await startPackageRegistry();
    github = githubStandIn(() => server.url, TOKEN);
    server = await listenOnLoopback(createAdaptorServer(github.app) as never, 0);
    const executable = "executable" in signer ? signer.executable : "";
    environment = {
      PATH: [await githubCommand(), path.dirname(executable), process.env["PATH"]].join(path.delimiter),
      npm_config_registry: registry.url,
      npm_config_userconfig: registry.settings,
      COSIGN_PASSWORD: "the-password-of-the-key",
      RELEASE_KEY: path.join(folder, "cosign.key"),
      GITHUB_API_URL: server.url,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "example/steward",
      GITHUB_REF_TYPE: "tag",
      GITHUB_REF_NAME: `release-${VERSION}`,
    };
    await types("cosign generate-key-pair", folder);
    await copyRepository();
    runner = await LocalRunner.start({
      root,
      vars: {},
      secrets: {},
      environment,
      leftOut: {
        "job image": "it needs a Docker engine of each processor",
        "npm run release -- push": "there is no image",
      },
    });
  }, BUILD_MS);

  afterAll(async () => {
    await runner?.close();
    await server?.close();
    await registry?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** Types a line into a shell that has to succeed. */
  const types = (line: string, cwd = root): Promise<string> =>
    execute("bash", ["-e", "-c", line], { cwd, env: { ...process.env, ...environment } });
  /** Types a line that fails, and returns what it printed. */
  async function fails(line: string): Promise<string> {
    const env = { ...process.env, ...environment };
    const { code, stdout, stderr } = await run("bash", ["-c", line], { cwd: root, env });
    expect(code).toBe(1);
    return stdout + stderr;
  }

  /** Adds a `gh` that knows how many runs of check.yml have passed; see test/workflows/run.engine.test.ts. */
  async function githubCommand(): Promise<string> {
    const bin = path.join(folder, "bin");
    await mkdir(bin);
    await writeFile(path.join(bin, "gh"), `#!/bin/sh\ncat "${bin}/passed"\n`, { mode: 0o755 });
    await writeFile(path.join(bin, "passed"), "1\n");
    return bin;
  }

  /** Makes a repository of this checkout's files, with a remote and a commit that is ready to be released. */
  async function copyRepository(): Promise<void> {
    const listed = await execute("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    const files = listed.split("\0").filter((name) => name !== "" && existsSync(name));
    for (const file of files) await cp(file, path.join(root, file));
    // Not one symbolic link: for `npm sbom` the packages would be those of another project.
    const packages = `"${path.resolve("node_modules")}"`;
    await types(`cp -al ${packages} . 2>/dev/null || cp -a ${packages} .`);
    await types(`git init --quiet --bare --initial-branch=main "${remote}"`, folder);
    await types("git init --quiet --initial-branch=main");
    await appendFile(path.join(root, ".git/info/exclude"), "node_modules\n");
    await types(
      `git config user.name a && git config user.email a@b.test && git remote add origin "${remote}"`,
    );
    const changelog = await readFile(path.join(root, "CHANGELOG.md"), "utf8");
    const changed = changelog.replace("## [Unreleased]\n", "## [Unreleased]\n\n- A change of the test.\n");
    await writeFile(path.join(root, "CHANGELOG.md"), changed);
    await writeFile(path.join(root, "test/release/installed.engine.test.ts"), SHORT_TEST);
    await types("git add --all && git commit --quiet --message before");
  }

  const start = () =>
    runner.run("release.yml", {
      github: { repository: "example/steward", sha: source, actor: "somebody", token: TOKEN },
    });
  const saidBy = (job: JobResult | undefined) => job?.ran.map(({ said }) => said).join("\n") ?? "";
  const filesOf = async (place: string): Promise<string[]> =>
    (await readdir(place, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(place, path.join(entry.parentPath, entry.name)))
      .sort();
  /** Unpacks a package into a new folder. */
  async function unpack(file: string, name: string): Promise<string> {
    const place = path.join(folder, name);
    await mkdir(place);
    await types(`tar -xzf "${file}" -C "${place}" --strip-components=1`, folder);
    return place;
  }

  test("what stands against the release is printed at once, and each fix that is printed works", async () => {
    await appendFile(path.join(root, "README.md"), "changed\n");
    const before = await types("cat package.json CHANGELOG.md");
    const said = await fails("npm run --silent release -- --dry-run");
    expect(said.match(/\(\w+_\w+\)$/gm)).toEqual([
      "(changelog_section_missing)",
      "(tree_dirty)",
      "(tag_differs)",
    ]);
    expect(await types("cat package.json CHANGELOG.md")).toBe(before);

    const [, stash = ""] = /fix: Commit them, or: (.+)/.exec(said) ?? [];
    await types(stash);
    expect(await fails("npm run --silent release -- check")).not.toContain("tree_dirty");
    // The tag asks for another version than package.json has.
    const [, prepare = ""] = /fix: (npm run release -- --prepare) /.exec(said) ?? [];
    await types(`${prepare} ${VERSION}`);
    expect(await fails("npm run --silent release -- check")).toContain("(tree_dirty)");
    await types(`git commit --quiet --all --message "Release ${VERSION}"`);
    const tagless = await fails("npm run --silent release -- check");
    const [, push = ""] = /\(tag_missing\)\n {2}fix: (.+)/.exec(tagless) ?? [];
    await types(`git push --quiet origin main && ${push}`);
    const elsewhere = "GITHUB_REPOSITORY=acme/steward npm run --silent release -- check";
    const [, set = ""] = /\(repository_differs\)\n {2}fix: (.+)/.exec(await fails(elsewhere)) ?? [];
    await types(set);
    expect(await fails(elsewhere)).not.toContain("repository_differs");
    await types("git checkout --quiet . && npm run --silent release -- check");
  });

  test("a dry run publishes nothing, and says what it leaves out", async () => {
    const steps = ["push", "sign", "npm", "tag", "github"];
    const said = await types(`npm run --silent release -- --dry-run check ${steps.join(" ")}`);
    expect(said.match(/^== .+(?=: left out, it .+ \(dry run\)$)/gm)).toEqual(
      steps.map((step) => `== ${step}`),
    );
    expect(github.releases).toEqual([]);
    expect(await types("git ls-remote --tags origin 'v*'")).toBe("");
  });

  test("a commit that check.yml has not passed is not released", async () => {
    await writeFile(path.join(folder, "bin/passed"), "0\n");
    const jobs = await start();
    await writeFile(path.join(folder, "bin/passed"), "1\n");
    expect(saidBy(jobs["checked"])).toContain("check.yml has not passed");
    expect([jobs["build"]?.result, jobs["publish"]?.result]).toEqual(["skipped", "skipped"]);
  });

  test(
    "the tag of a version goes all the way",
    async () => {
      source = (await types("git rev-parse HEAD")).trim();
      const jobs = await start();
      for (const job of Object.values(jobs)) expect(job.result, saidBy(job)).toBe("success");
      expect(runner.leftOut).toContain("left out: npm run release -- push (there is no image)");
      expect(Object.values(jobs).map(saidBy).join("")).not.toContain(TOKEN);
      expect(jobs["build"]?.ran.at(-1)?.said).toContain("installed.engine.test.ts");
    },
    RUN_MS,
  );

  test("npm's registry has the file that was built, with the metadata that npm shows", async () => {
    const told = JSON.parse(await types(`npm view steward-gateway@${VERSION} --json`)) as Record<
      string,
      unknown
    >;
    const { homepage, bugs, repository, keywords } = packageJson;
    expect(told).toMatchObject({ version: VERSION, homepage, bugs, repository, keywords });
    expect(told["dist-tags"]).toEqual({ latest: VERSION });
    await types(`npm pack --silent --pack-destination=.. steward-gateway@${VERSION}`);
    await types(`cmp ../${FILE} dist/release/${FILE}`);
  });

  test("the links of the package's pages lead into the package, or to the sources of its version", async () => {
    const place = await unpack(path.join(root, "dist/release", FILE), "package");
    const pages = (await filesOf(place)).filter((file) => file.endsWith(".md"));
    expect(pages.length).toBeGreaterThan(4);
    const texts = await Promise.all(
      pages.map(async (page) => ({ page, text: await readFile(path.join(place, page), "utf8") })),
    );
    const links = texts.flatMap(({ page, text }) =>
      [...text.matchAll(/(?:\]\(|src(?:set)?=")([^)"\s#]+)/g)].map(([, link = ""]) => ({ page, link })),
    );
    const elsewhere = new RegExp(`^https://github.com/example/steward/(?:blob|raw)/release-${VERSION}/`);
    const broken = links.filter(({ page, link }) => {
      if (elsewhere.test(link)) return !existsSync(path.join(root, link.replace(elsewhere, "")));
      return !/^[a-z]+:/.test(link) && !existsSync(path.join(place, path.dirname(page), link));
    });
    expect(broken).toEqual([]);
    expect(links.filter(({ link }) => elsewhere.test(link)).length).toBeGreaterThan(10);
  });

  test("the tag holds the package as it was built, after the commit of its sources, and npm installs it", async () => {
    const parents = await types(`git --git-dir="${remote}" rev-list --parents --max-count=1 v${VERSION}`);
    expect(parents.trim().split(" ").at(-1)).toBe(source);
    const packed = path.join(folder, "from-git");
    await mkdir(packed);
    await types(`npm pack --silent "git+file://${remote}#v${VERSION}"`, packed);
    const fromGit = await unpack(path.join(packed, FILE), "package-from-git");
    const fromNpm = path.join(folder, "package");
    expect(await filesOf(fromGit)).toEqual(await filesOf(fromNpm));
    await types(`diff --recursive "${fromNpm}" "${fromGit}"`);
  });

  test("GitHub's release has the changelog's section, and files that its checksums and signatures are of", async () => {
    const [release, ...others] = github.releases;
    expect(others).toEqual([]);
    expect(release).toMatchObject({ tag_name: `v${VERSION}`, draft: false, prerelease: false });
    expect(release?.body).toMatch(/^- A change of the test\.\n/);
    expect(release?.body).toContain(`/blob/release-${VERSION}/SECURITY.md#verifying-a-release`);
    const downloads = path.join(folder, "downloads");
    await mkdir(downloads);
    for (const [name, bytes] of Object.entries(release?.assets ?? {})) {
      await writeFile(path.join(downloads, name), bytes);
    }
    expect(await filesOf(downloads)).toEqual([
      "SHA256SUMS",
      "SHA256SUMS.sigstore.json",
      "container.cdx.json",
      "release.json",
      FILE,
      `${FILE}.sigstore.json`,
      "worker.cdx.json",
    ]);
    expect(await types("sha256sum --check SHA256SUMS", downloads)).toBe(
      ["container.cdx.json", "release.json", FILE, "worker.cdx.json"].map((name) => `${name}: OK\n`).join(""),
    );
    const verify = (name: string, key = "cosign.pub") =>
      types(
        `cosign verify-blob --key "${folder}/${key}" --bundle ${name}.sigstore.json --insecure-ignore-tlog ${name}`,
        downloads,
      );
    await verify(FILE);
    await verify("SHA256SUMS");
    await mkdir(path.join(folder, "other"));
    await types("cosign generate-key-pair", path.join(folder, "other"));
    await expect(verify(FILE, "other/cosign.pub")).rejects.toThrow("signature");
    await appendFile(path.join(downloads, FILE), " ");
    await expect(verify(FILE)).rejects.toThrow("signature");
  });

  test("a step that was done already changes nothing", async () => {
    const before = JSON.stringify(github.releases);
    const environmentOfJob = `GH_TOKEN=${TOKEN}`;
    const said = await types(`${environmentOfJob} npm run --silent release -- npm tag github`);
    expect(said).toContain(`${FILE} is published already`);
    const commit = (await types(`git --git-dir="${remote}" rev-parse v${VERSION}`)).trim();
    expect(said).toContain(`v${VERSION}: ${commit}`);
    expect(said).toContain(`/releases/tag/v${VERSION}`);
    expect(JSON.stringify(github.releases)).toBe(before);
  });

  test("other content of the same version is refused everywhere", async () => {
    const place = path.join(folder, "package");
    await appendFile(path.join(place, "README.md"), "changed\n");
    await types(`npm pack --silent --pack-destination="${root}/dist/release"`, place);
    expect(await fails("npm run --silent release -- npm")).toContain("(version_released)");
    expect(await fails("npm run --silent release -- tag")).toContain("(tag_taken)");
  });

  test("a folder with other files is left as it is, and a step that does not exist runs none", async () => {
    expect(await fails("npm run --silent release -- build --out docs")).toContain("(release_folder_taken)");
    expect(await types("git status --porcelain")).toBe("");
    const { code, stdout, stderr } = await run("node", ["scripts/release/main.ts", "sums", "nmp"], {
      cwd: root,
    });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("there is no step nmp");
  });

  test("a package that fails its test is not released", async () => {
    await rm(path.join(root, "dist/release", FILE));
    expect(await fails("npm run --silent release -- test npm")).toMatch(
      /\(release_test_failed\)\n {2}fix: .+\n$/,
    );
  });

  test("a version that is released is refused before anything is built", async () => {
    const { build } = await start();
    expect(build?.result).toBe("failure");
    expect(saidBy(build)).toContain(`as the tag v${VERSION} and on npm (version_released)`);
    expect(saidBy(build)).toContain("fix: npm run release -- --prepare 9.1.1");
    expect(build?.ran).toHaveLength(1);
  });
});
