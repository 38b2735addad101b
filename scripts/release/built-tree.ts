import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { execute } from "../execute.ts";

export interface BuiltTreeTarget {
  /** Local clone that has the sources' commit. */
  root: string;
  /** A remote of the clone, or an address. */
  remote: string;
  /** Git's environment, with the credentials for the push. */
  env: NodeJS.ProcessEnv;
}

/** A fixed author, with the date of the sources' commit, makes the commit reproducible. */
const NAME = "steward release";
const EMAIL = "release@steward.invalid";

/**
 * Pushes a package's content as a tag that `pulumi package add` and npm install without a build. Its commit is a
 * child of the sources' commit and on no branch. Pushing the same package again changes nothing.
 *
 * @param tarball as `npm pack` makes it
 * @param source commit of the sources
 * @returns the tag's commit
 * @throws BuildFailure `tag_taken` if the tag is at another commit
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
    // Adds files that the user's own git settings ignore, too.
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

/** Adds GH_TOKEN to git's environment, as actions/checkout does, to keep it out of arguments and files. */
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
