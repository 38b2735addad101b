/** Releases the version in package.json: `npm run release`. See CONTRIBUTING.md. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import semver from "semver";
import { Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { commandParser, runCommand, usageError, type CommandOutput } from "../../infra/shell/command.ts";
import { dockerAvailable, withRegistryLogin } from "../../infra/shell/docker.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { ROOT } from "../../infra/shell/package.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { execute } from "../execute.ts";
import { repositoryPage } from "../package-links.ts";
import * as artefacts from "./artefacts.ts";
import { gitEnvironment, pushBuiltTree } from "./built-tree.ts";
import { releasesIn } from "./changelog.ts";
import { builtTag, type ReleaseProblem, releaseProblems, sourceTag } from "./check.ts";
import { readFacts } from "./facts.ts";
import { publishRelease } from "./github.ts";
import { prepareRelease } from "./prepare.ts";
import { publishPackage } from "./publish-package.ts";
import { pushImages } from "./push-image.ts";
import { publicKeyOf, signRelease, workflowSigner } from "./sign.ts";

const SCRIPT = "npm run release --";
const { version } = packageJson;
const REPOSITORY = repositoryPage(packageJson.repository.url);
const [OWNER_AND_NAME = ""] = /[^/]+\/[^/]+$/.exec(REPOSITORY) ?? [];

interface Options {
  dryRun?: true;
  prepare?: string;
  out: string;
  remote: string;
  image: string;
  key?: string;
}

interface Release extends CommandOutput {
  folder: string;
  options: Options;
  env: NodeJS.ProcessEnv;
  now: () => Date;
}

interface Step {
  /** Completes a sentence that begins with "it". */
  does: string;
  run: (release: Release) => Promise<void>;
  /** A dry run skips the step. */
  publishes?: true;
  /** A dry run without an engine skips the step. */
  docker?: true;
}

const STEPS: Readonly<Record<string, Step>> = {
  check: { does: "checks version, changelog, tree and earlier releases", run: check },
  build: { does: "builds the package and its bills of materials into an empty folder", run: build },
  test: { does: "installs that package and deploys from it", run: testPackage },
  image: {
    does: "builds the image for this engine's processor from the package's bundle",
    run: image,
    docker: true,
  },
  "test-image": { does: "deploys a host from the package and that image", run: testImage, docker: true },
  push: { does: "pushes the images of all processors to the registry", run: push, publishes: true },
  sums: { does: "writes the SHA-256 checksums", run: ({ folder }) => artefacts.writeChecksums(folder) },
  sign: { does: "signs package, checksums and image with cosign", run: sign, publishes: true },
  npm: { does: "publishes the package to npm", run: npm, publishes: true },
  tag: { does: "pushes the content of the package as a tag", run: tag, publishes: true },
  github: { does: "creates the GitHub release from the changelog", run: github, publishes: true },
};

async function main(argv: string[], output: CommandOutput): Promise<number> {
  const parser = commandParser(
    SCRIPT,
    "Releases the version in package.json: all steps, or only the named ones.",
  )
    .argument("[steps...]", Object.keys(STEPS).join(", "))
    .option("--dry-run", "publish nothing: build, test, and print the skipped steps")
    .option("--prepare <version>", "only write the version into its files and into CHANGELOG.md")
    .option("--out <folder>", "folder of the built artefacts", "dist/release")
    .addOption(
      new Option("--remote <remote>", "git remote for the tag").env("RELEASE_REMOTE").default("origin"),
    )
    .addOption(
      new Option("--image <repository>", "repository for the image")
        .env("RELEASE_IMAGE")
        .default(`ghcr.io/${OWNER_AND_NAME.toLowerCase()}`),
    )
    .addOption(new Option("--key <file>", "sign with this key of cosign").env("RELEASE_KEY"))
    .addHelpText("after", `\nSteps:\n${stepsText()}`)
    .parse(argv, { from: "user" });
  const options = parser.opts<Options>();
  const now = (): Date => new Date();
  if (options.prepare !== undefined) {
    await prepareRelease(ROOT, options.prepare, today(now));
    output.say(`CHANGELOG.md and the files of the version name ${options.prepare}. Read and commit them.\n`);
    return 0;
  }
  const steps = (parser.args.length === 0 ? Object.keys(STEPS) : parser.args).map(stepOf);
  const folder = path.resolve(options.out);
  const release: Release = { ...output, folder, options, env: process.env, now };
  for (const [name, step] of steps) {
    const leftOut = options.dryRun === true ? await reasonToLeaveOut(step) : undefined;
    output.say(
      leftOut === undefined ? `== ${name}\n` : `== ${name}: skipped, it ${step.does} (${leftOut})\n`,
    );
    if (leftOut !== undefined) continue;
    try {
      await step.run(release);
    } catch (error) {
      if (!(error instanceof NotReleasable)) throw error;
      return 1;
    }
  }
  return 0;
}

function stepOf(name: string): [name: string, step: Step] {
  const step = STEPS[name];
  if (step === undefined) throw usageError(`unknown step ${name}; steps: ${Object.keys(STEPS).join(", ")}`);
  return [name, step];
}

function stepsText(): string {
  const lines = Object.entries(STEPS).map(([name, { does }]) => `  ${name.padEnd(12)}${does}\n`);
  return lines.join("");
}

async function reasonToLeaveOut({ publishes, docker }: Step): Promise<string | undefined> {
  if (publishes === true) return "dry run";
  if (docker !== true) return undefined;
  const state = await dockerAvailable();
  return state.ok ? undefined : state.reason;
}

const today = (now: () => Date): string => now().toISOString().slice(0, "2026-11-27".length);

/** Ends a release after its problems have been printed. */
class NotReleasable extends Error {}

async function check({ say, log, env, options, now }: Release): Promise<void> {
  const { remote, dryRun = false } = options;
  const problems = releaseProblems(await readFacts({ env, remote, dryRun, today: today(now), log }));
  for (const problem of problems) say(problemText(problem));
  if (problems.length > 0) throw new NotReleasable();
}

const problemText = ({ code, cause, fix }: ReleaseProblem): string => `${cause} (${code})\n  fix: ${fix}\n`;

async function build({ folder, say, env, options }: Release): Promise<void> {
  const commit = (await execute("git", ["rev-parse", "HEAD"], { cwd: ROOT })).trim();
  const signer =
    options.key === undefined
      ? workflowSigner(REPOSITORY, sourceTag(version))
      : { publicKey: await publicKeyOf({ run: runProcess, env, key: options.key }) };
  const image = { name: `${options.image}:${version}`, signer };
  const record = await artefacts.buildPackage(folder, { version, commit, image });
  say(`${path.join(folder, record.package)}\n`);
}

async function image({ folder, log }: Release): Promise<void> {
  await artefacts.buildImage(folder, await artefacts.readRecord(folder), log);
}

function testPackage(release: Release): Promise<void> {
  return runTest(release, "engine", "test/release/installed.engine.test.ts");
}

function testImage(release: Release): Promise<void> {
  return runTest(release, "system", "test/release/installed-host.system.test.ts");
}

async function runTest({ folder, env, log }: Release, project: string, test: string): Promise<void> {
  const record = await artefacts.readRecord(folder);
  const words = [path.join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--project", project, test];
  const given = { ...env, NO_COLOR: "1", STEWARD_PACKAGE: path.join(folder, record.package) };
  const finished = await runProcess(process.execPath, words, { cwd: ROOT, env: given, onLine: log });
  if (finished.code === 0) return;
  throw new BuildFailure(
    "release_test_failed",
    `${test} fails with ${record.package}`,
    "Read its output above, fix the cause, and start again with: npm run release -- --dry-run",
  );
}

async function push({ folder, env, options, say }: Release): Promise<void> {
  const record = await artefacts.readRecord(folder);
  const pushed = await atRegistry(env, options.image, (registryEnv) =>
    pushImages(folder, { repository: options.image, version: record.version, env: registryEnv }),
  );
  await artefacts.writeRecord(folder, { ...record, image: pushed });
  say(`${pushed}\n`);
}

async function sign({ folder, env, options }: Release): Promise<void> {
  const record = await artefacts.readRecord(folder);
  const processors = (await artefacts.savedImages(folder)).map(({ arch }) => arch);
  await atRegistry(env, options.image, (registryEnv) =>
    signRelease({ run: runProcess, env: registryEnv, key: options.key }, folder, record, processors),
  );
}

/** Runs `work` with REGISTRY_USER and REGISTRY_PASSWORD, or else the user's existing login. */
function atRegistry<T>(
  env: NodeJS.ProcessEnv,
  repository: string,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  const { REGISTRY_USER: username, REGISTRY_PASSWORD: password } = env;
  if (!username || !password) return work(env);
  const [host = ""] = repository.split("/");
  return withRegistryLogin(host, { username, password }, work);
}

async function npm({ folder, env, say }: Release): Promise<void> {
  const record = await artefacts.readRecord(folder);
  // GitHub sets this variable in a job with `id-token: write`.
  const provenance = Boolean(env["ACTIONS_ID_TOKEN_REQUEST_URL"]);
  const isNew = await publishPackage({ run: runProcess, env }, folder, record, { provenance });
  say(isNew ? `published ${record.package}\n` : `${record.package} is already published\n`);
}

async function tag({ folder, env, options, say }: Release): Promise<void> {
  const record = await artefacts.readRecord(folder);
  const name = builtTag(record.version);
  const tarball = path.join(folder, record.package);
  const target = { root: ROOT, remote: options.remote, env: gitEnvironment(env) };
  say(`${name}: ${await pushBuiltTree(target, { tarball, tag: name, source: record.commit })}\n`);
}

async function github({ folder, env, say }: Release): Promise<void> {
  const record = await artefacts.readRecord(folder);
  const { GITHUB_API_URL: api = "https://api.github.com", GH_TOKEN: token = "" } = env;
  const offered = await artefacts.offeredFiles(folder);
  const signed = [record.package, artefacts.SUMS].map(artefacts.signatureOf);
  const page = await publishRelease(
    { api, repository: OWNER_AND_NAME, token, fetch },
    {
      tag: builtTag(record.version),
      notes: notesOf(await readFile(path.join(ROOT, "CHANGELOG.md"), "utf8"), record),
      prerelease: semver.prerelease(record.version) !== null,
      files: [...offered, artefacts.SUMS, ...signed].map((name) => path.join(folder, name)),
    },
  );
  say(`${page}\n`);
}

function notesOf(changelog: string, record: artefacts.ReleaseRecord): string {
  const text = releasesIn(changelog).find(({ name }) => name === record.version)?.text ?? "";
  const page = `${REPOSITORY}/blob/${sourceTag(record.version)}/SECURITY.md#verifying-a-release`;
  const pushed = record.image === undefined ? "" : `Image: \`${record.image}\`\n\n`;
  return `${text}\n\n${pushed}[How to verify what you download](${page})\n`;
}

await runCommand(SCRIPT, main);
