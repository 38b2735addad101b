import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { execute } from "../execute.ts";

export interface BuiltTreeTarget {
  /** Local clone that has the sources' commit. */
  root: string;
  /** Name of the clone's Git remote, or a repository URL. */
  remote: string;
  /** Git's environment, with the credentials for the push. */
  env: NodeJS.ProcessEnv;
}

/** Author of the built commit. Author and date are fixed, so the same package always results in the same commit. */
const NAME = "steward release";
const EMAIL = "release@steward.invalid";

/**
 * Pushes a package's content as a Git tag. The tag's commit belongs to no branch. Pushing the same package again
 * changes nothing.
 *
 * @param tarball output of `npm pack`
 * @param source commit of the sources
 * @returns hash of the tag's commit
 * @throws BuildFailure `tag_taken` if the tag points to another commit
 */
export async function pushBuiltTree(
  { root, remote, env }: BuiltTreeTarget,
  { tarball, tag, source }: { tarball: string; tag: string; source: string },
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "steward-built-"));
  const content = path.join(folder, "content");
  try {
    const gitDir = (await execute("git", ["rev-parse", "--absolute-git-dir"], { cwd: root, env })).trim();
    await mkdir(content);
    await execute("tar", ["-xzf", tarball, "-C", content, "--strip-components=1"]);
    const git = async (...words: string[]): Promise<string> =>
      (await execute("git", words, { cwd: root, env: { ...env, ...identity } })).trim();
    const identity: NodeJS.ProcessEnv = { GIT_INDEX_FILE: path.join(folder, "index") };
    // With `--force`, Git also adds files that the user's Git settings ignore.
    const add = ["add", "--all", "--force", "."];
    await git("-c", "core.autocrlf=false", "-C", content, `--git-dir=${gitDir}`, "--work-tree=.", ...add);
    const tree = await git("write-tree");
    const date = await git("show", "--no-patch", "--format=%cI", source);
    for (const who of ["GIT_AUTHOR", "GIT_COMMITTER"]) {
      Object.assign(identity, { [`${who}_NAME`]: NAME, [`${who}_EMAIL`]: EMAIL, [`${who}_DATE`]: date });
    }
    const message = `Built package ${tag}\n\nSources: ${source}`;
    const commit = await git("commit-tree", tree, "-p", source, "-m", message);
    const ref = `refs/tags/${tag}`;
    const [there] = (await git("ls-remote", remote, ref)).split("\t");
    if (there !== "" && there !== commit) {
      throw new BuildFailure(
        "tag_taken",
        `the tag ${tag} of ${remote} points to ${there}, but this package is ${commit}`,
        "Release another version: npm run release -- --prepare <version>",
      );
    }
    await git("push", "--quiet", remote, `${commit}:${ref}`);
    return commit;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Adds GH_TOKEN to Git's environment as a header, like actions/checkout. This keeps the token out of arguments and
 * files.
 */
export function gitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GH_TOKEN: token, GITHUB_SERVER_URL: server = "https://github.com" } = env;
  if (!token) return env;
  const login = Buffer.from(`x-access-token:${token}`).toString("base64");
  return {
    ...env,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${server}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${login}`,
  };
}
