import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as z from "zod";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { IS_RELEASE, PACKAGE, ROOT } from "../../../infra/shell/package.ts";
import { type Finished, runProcess, tail } from "../../../infra/shell/process.ts";
import { parseJson } from "../../../runtime/shared/json.ts";

const MANIFEST = "package.json";
/** Files that pin versions. Installing creates the lock file if it is missing. */
const VERSION_FILES = [MANIFEST, "package-lock.json"];
const LEFT_OUT = new Set(["node_modules", ".git", ".steward"]);
const PROGRAM = "stacks/commands/main.js";
const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
const REGISTRY_MS = 60_000;

const manifestSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()) });
const versionSchema = z.looseObject({ version: z.string() });

export interface Project {
  folder: string;
  manifest: Record<string, unknown>;
  /** Version of the package in node_modules. */
  installed: string;
}

export interface ProjectRun {
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

/**
 * Reads the project in a folder.
 *
 * @throws BuildFailure `upgrade_no_package` if this package is not an installed dependency of the project.
 */
export async function readProject(folder: string): Promise<Project> {
  const place = path.resolve(folder);
  const manifest = manifestSchema.safeParse(await readJson(path.join(place, MANIFEST))).data;
  const own = versionSchema.safeParse(await readJson(path.join(packageIn(place), MANIFEST))).data;
  if (manifest?.dependencies[PACKAGE] === undefined || own === undefined) {
    throw noPackage(place);
  }
  return { folder: place, manifest, installed: own.version };
}

function noPackage(place: string): BuildFailure {
  if (!IS_RELEASE && place === path.resolve(ROOT)) {
    const cause = `this folder is a checkout of steward itself, but an upgrade needs a project that depends on ${PACKAGE}`;
    return new BuildFailure(
      "upgrade_no_package",
      cause,
      ({ script }) => `Check out the version, run \`npm ci\`, then \`${script("rollout")}\``,
    );
  }
  return new BuildFailure(
    "upgrade_no_package",
    `${place} has no ${PACKAGE} installed as a dependency`,
    `Install it there: \`npm install --save-exact ${PACKAGE}\``,
  );
}

/**
 * Looks up a version in the registry that the user's npm is configured for.
 *
 * @param wanted Version or tag.
 * @throws BuildFailure `upgrade_registry` if the registry does not respond or lacks the version.
 */
export async function versionAtRegistry(
  folder: string,
  wanted: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const words = ["view", `${PACKAGE}@${wanted}`, "version", "--json"];
  const asked = await runProcess("npm", words, { cwd: folder, env, timeoutMs: REGISTRY_MS });
  const answer = z.string().safeParse(parseJson(asked.stdout));
  if (asked.code === 0 && answer.success) return answer.data;
  throw notAtRegistry(wanted, asked);
}

function notAtRegistry(wanted: string, asked: Finished): BuildFailure {
  return new BuildFailure(
    "upgrade_registry",
    `npm cannot get ${PACKAGE}@${wanted} from its registry: ${tail(asked, 3)}`,
    `Check that you are logged in to npm, then list the versions: \`npm view ${PACKAGE} versions\``,
  );
}

/**
 * Returns a version's changelog, or an empty string if it has none. Installs nothing.
 *
 * @throws BuildFailure `upgrade_registry`
 */
export async function changelogOf(version: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const place = await newFolder();
  try {
    const words = ["pack", `${PACKAGE}@${version}`, "--silent", "--pack-destination", place];
    const packed = await runProcess("npm", words, { cwd: folder, env, timeoutMs: REGISTRY_MS });
    if (packed.code !== 0) throw notAtRegistry(version, packed);
    const file = `${PACKAGE}-${version}.tgz`;
    return (await runProcess("tar", ["-xzOf", file, "package/CHANGELOG.md"], { cwd: place })).stdout;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function newFolder(): Promise<string> {
  return realpath(await mkdtemp(path.join(tmpdir(), "steward-upgrade-")));
}

/** Temporary copy of a project with another version of the package. */
export interface AsideInstallation {
  folder: string;
  remove(): Promise<void>;
}

/**
 * Copies a project and installs a version of the package in the copy.
 *
 * @throws BuildFailure `upgrade_install`
 */
export async function installAside(
  project: Project,
  version: string,
  given: ProjectRun,
): Promise<AsideInstallation> {
  const folder = await newFolder();
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const filter = (source: string): boolean => !LEFT_OUT.has(path.basename(source));
    await cp(project.folder, folder, { recursive: true, filter, verbatimSymlinks: true });
    await install(folder, given, "--save-exact", `${PACKAGE}@${version}`);
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Copies package.json and package-lock.json to a folder and installs the packages there.
 *
 * @throws BuildFailure `upgrade_install`
 */
export async function installVersions(folder: string, from: string, given: ProjectRun): Promise<void> {
  await copyVersions(from, folder);
  await install(folder, given);
}

/** Copies the files that pin versions, and deletes from `to` those that `from` lacks. */
export async function copyVersions(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of VERSION_FILES) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if (existsSync(source)) await cp(source, target);
    else await rm(target, { force: true });
  }
}

async function install(folder: string, { env, log }: ProjectRun, ...words: string[]): Promise<void> {
  log(`npm ${[...INSTALL, ...words].join(" ")} in ${folder}`);
  const done = await runProcess("npm", [...INSTALL, ...words], { cwd: folder, env });
  if (done.code === 0) return;
  const cause = `npm install failed in ${folder}: ${tail(done, 5)}`;
  throw new BuildFailure("upgrade_install", cause, "Run it again when npm can install the version.");
}

/** Final report printed by the `rollout` command of the project's installed package. */
const rolloutReport = z.looseObject({
  exit: z.number().optional(),
  cause: z.string().optional(),
  code: z.string().optional(),
  fix: z.string().optional(),
  summary: z.string().default(""),
  steps: z.array(z.object({ op: z.string(), type: z.string(), name: z.string() })).default([]),
  gates: z.array(z.string()).default([]),
  broken: z.array(z.string()).default([]),
  migrations: z.array(z.string()).default([]),
});

export type RolloutReport = z.output<typeof rolloutReport> & { exit: number };

/** Runs the `rollout` command of the version that is installed in a folder. */
export async function rolloutOf(
  folder: string,
  words: readonly string[],
  given: ProjectRun,
): Promise<RolloutReport> {
  const { env, log } = given;
  let last = "";
  const onLine = (line: string): void => {
    if (line.startsWith("{")) last = line;
    else log(line);
  };
  const command = [programIn(folder), "rollout", ...words, "--json"];
  const ended = await runProcess(process.execPath, command, { cwd: folder, env, onLine });
  const report =
    rolloutReport.safeParse(parseJson(last)).data ?? rolloutReport.parse({ cause: tail(ended, 5) });
  return { ...report, exit: report.exit ?? ended.code };
}

export function programIn(folder: string): string {
  return path.join(packageIn(folder), PROGRAM);
}

function packageIn(folder: string): string {
  return path.join(folder, "node_modules", PACKAGE);
}

async function readJson(file: string): Promise<unknown> {
  return parseJson(await readFile(file, "utf8").catch(() => ""));
}
