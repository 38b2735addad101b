import { readFile } from "node:fs/promises";
import path from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../../infra/shell/package.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { VERSION } from "../../runtime/contract/names.ts";
import { execute } from "../execute.ts";
import { repositoryPage } from "../package-links.ts";
import { gitEnvironment } from "./built-tree.ts";
import type { ReleaseFacts } from "./check.ts";
import { publishedIntegrity } from "./publish-package.ts";

interface FactSources {
  /** GitHub's variables in a workflow: https://docs.github.com/actions/reference/workflows-and-actions/variables */
  env: NodeJS.ProcessEnv;
  /** Name of this clone's Git remote, or a repository URL. */
  remote: string;
  dryRun: boolean;
  /** Date in UTC, as `2026-11-27`. */
  today: string;
  /** Receives a line if the Git remote or npm's registry does not respond. */
  log: (line: string) => void;
}

export async function readFacts({ env, remote, dryRun, today, log }: FactSources): Promise<ReleaseFacts> {
  const { GITHUB_REF_TYPE, GITHUB_REF_NAME, GITHUB_REPOSITORY, GITHUB_SERVER_URL } = env;
  const { version, repository } = packageJson;
  const git = async (...words: string[]): Promise<string[]> => {
    const text = await execute("git", words, { cwd: ROOT, env: gitEnvironment(env) });
    return text.split("\n").filter(Boolean);
  };
  const known = async <T>(answer: Promise<T>): Promise<T | undefined> => {
    try {
      return await answer;
    } catch (error) {
      log(`not checked: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  const remoteTags = (await known(git("ls-remote", "--tags", "--refs", remote))) ?? [];
  return {
    version,
    builtVersion: VERSION,
    changelog: await readFile(path.join(ROOT, "CHANGELOG.md"), "utf8"),
    changedFiles: (await git("status", "--porcelain")).map((line) => line.slice("?? ".length)),
    tags: [...(await git("tag", "--list")), ...remoteTags.map((line) => line.replace(/^.*refs\/tags\//, ""))],
    onNpm: await known(
      publishedIntegrity({ run: runProcess, env }, version).then((one) => one !== undefined),
    ),
    repository: repositoryPage(repository.url),
    ...(GITHUB_REPOSITORY && { workflowRepository: `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}` }),
    ...(GITHUB_REF_TYPE === "tag" && GITHUB_REF_NAME && { workflowTag: GITHUB_REF_NAME }),
    ...(!dryRun && { commitTags: await git("tag", "--points-at", "HEAD") }),
    today,
  };
}
