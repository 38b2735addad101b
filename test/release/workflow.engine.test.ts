import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { runProcess } from "../../infra/shell/process.ts";
import { LocalRunner, type JobResult } from "../workflows/runner.ts";
import { cosign } from "./cosign.ts";
import type { GitHubStandIn } from "./github-stand-in.ts";
import { type ReleaseWorld, startReleaseWorld } from "./release-world.ts";

const VERSION = "9.1.0";
const FILE = `steward-gateway-${VERSION}.tgz`;
const BUILD_MS = 20 * 60_000;
const RUN_MS = 15 * 60_000;

const signer = await cosign();
if ("missing" in signer) process.stderr.write(`skipped: the release workflow (${signer.missing})\n`);

/** A release from a copy of this checkout: of release.yml everything runs but what needs an engine of its processor. */
describe.skipIf("missing" in signer)("release.yml, step by step", { timeout: RUN_MS }, () => {
  let world: ReleaseWorld;
  let folder: string;
  let root: string;
  let remote: string;
  let github: GitHubStandIn;
  let runner: LocalRunner;
  let source: string;

  beforeAll(async () => {
    world = await startReleaseWorld(VERSION, "executable" in signer ? signer.executable : "");
    ({ folder, root, remote, github } = world);
    runner = await LocalRunner.start({
      root,
      vars: {},
      secrets: {},
      environment: world.environment,
      leftOut: {
        "job image": "it needs a Docker engine of each processor",
        "npm run release -- push": "there is no image",
      },
    });
  }, BUILD_MS);

  afterAll(async () => {
    await runner?.close();
    await world?.close();
  });

  const types: ReleaseWorld["types"] = (...words) => world.types(...words);
  const fails: ReleaseWorld["fails"] = (line) => world.fails(line);
  const start = () =>
    runner.run("release.yml", {
      github: { repository: "example/steward", sha: source, actor: "somebody", token: world.token },
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
    expect(said.match(/^== .+(?=: skipped, it .+ \(dry run\)$)/gm)).toEqual(
      steps.map((step) => `== ${step}`),
    );
    expect(github.releases).toEqual([]);
    expect(await types("git ls-remote --tags origin 'v*'")).toBe("");
  });

  test("a commit that check.yml has not passed is not released", async () => {
    await world.setChecks(0);
    const jobs = await start();
    await world.setChecks(1);
    expect(saidBy(jobs["checked"])).toContain("check.yml has not passed");
    expect([jobs["build"]?.result, jobs["publish"]?.result]).toEqual(["skipped", "skipped"]);
  });

  test("the tag of a version goes all the way", async () => {
    source = (await types("git rev-parse HEAD")).trim();
    const jobs = await start();
    for (const job of Object.values(jobs)) expect(job.result, saidBy(job)).toBe("success");
    expect(runner.leftOut).toContain("left out: npm run release -- push (there is no image)");
    expect(Object.values(jobs).map(saidBy).join("")).not.toContain(world.token);
    expect(jobs["build"]?.ran.at(-1)?.said).toContain("installed.engine.test.ts");
  });

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
    const said = await types(`GH_TOKEN=${world.token} npm run --silent release -- npm tag github`);
    expect(said).toContain(`${FILE} is already published`);
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
    const { code, stdout, stderr } = await runProcess("node", ["scripts/release/main.ts", "sums", "nmp"], {
      cwd: root,
    });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("unknown step nmp");
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
