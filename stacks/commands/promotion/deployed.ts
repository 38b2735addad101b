import { run } from "../../../infra/shell/process.ts";

/** What a stack has deployed, and from where. Plain data: a record keeps it. */
export interface DeployedBuild {
  /** Hash over the code of Worker and container. */
  bundle: string;
  /** The container's image, by digest where it was pushed. */
  image: string;
  /** The commit of the checkout, with `-dirty` behind it where files are changed; absent outside of a repository. */
  commit?: string;
}

/** Returns what a stack with these outputs has deployed from this checkout. */
export async function deployedBuild(output: (name: string) => string): Promise<DeployedBuild> {
  const commit = await commitOf();
  return { bundle: output("bundleHash"), image: output("image"), ...(commit !== undefined && { commit }) };
}

/** The commit of this checkout, whatever folder the command was started in. */
export async function commitOf(): Promise<string | undefined> {
  const words = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"];
  const { code, stdout } = await run("git", words, { cwd: import.meta.dirname });
  return code === 0 ? stdout.trim() : undefined;
}
