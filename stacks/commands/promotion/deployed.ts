import type { Stack } from "@pulumi/pulumi/automation/index.js";
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

/** What the stack has deployed, from this checkout. */
export async function deployedBy(stack: Stack): Promise<DeployedBuild> {
  const [{ bundle, image }, commit] = await Promise.all([outputsOf(stack), commitOf()]);
  return { bundle, image, ...(commit !== undefined && { commit }) };
}

/** What the stack's outputs say of that; empty where it is not deployed. */
export async function outputsOf(stack: Stack): Promise<{ target: string; bundle: string; image: string }> {
  const outputs = await stack.outputs();
  const text = (name: string) => String(outputs[name]?.value ?? "");
  return { target: text("target"), bundle: text("bundleHash"), image: text("image") };
}

/** The commit of this checkout, whatever folder the command was started in. */
export async function commitOf(): Promise<string | undefined> {
  const words = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"];
  const { code, stdout } = await run("git", words, { cwd: import.meta.dirname });
  return code === 0 ? stdout.trim() : undefined;
}
