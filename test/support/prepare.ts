import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { stewardImage } from "../../infra/bundle/image.ts";
import { dockerAvailable } from "../../infra/shell/docker.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { ensureEngine } from "../../rehearsal/engine/index.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Reason why there is no Pulumi engine, or empty. */
    engineMissing: string;
    programs: string;
    /** Folder for npm packages that this test run packs. */
    packages: string;
  }
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Builds the Pulumi engine and the images. Without Go, `npm test` skips tests that need an engine, but CI and the other
 * tiers fail.
 */
export default async function prepare(project: TestProject): Promise<() => Promise<void>> {
  const packages = await mkdtemp(path.join(tmpdir(), "steward-packages-"));
  project.provide("packages", packages);
  await prepareFor(project);
  return () => rm(packages, { recursive: true, force: true });
}

async function prepareFor(project: TestProject): Promise<void> {
  const { name } = project;
  // A bundle starts three times as fast as the sources.
  if (name === "process" || name === "system")
    project.provide("programs", (await buildBundle()).container.dir);
  if (name === "process") return;
  project.provide("engineMissing", "");
  try {
    await ensureEngine({ docker: name === "system", log });
  } catch (error) {
    const isMissing = error instanceof BuildFailure && error.code === "engine_go_missing";
    if (!isMissing || name !== "main" || process.env["CI"]) throw error;
    log(`skipped: what needs a Pulumi engine (${error.message})`);
    project.provide("engineMissing", error.message);
  }
  if (name !== "system" || !(await dockerAvailable()).ok) return;
  await prepareBaseImage({ log });
  // Two stacks that build a new image at the same time would replace each other's.
  await stewardImage(await buildBundle(), log);
}
