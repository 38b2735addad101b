import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { dockerAvailable } from "../../infra/shell/docker.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { ensureEngine } from "../../rehearsal/engine/index.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Why `npm test` has no Pulumi engine. Empty if it has one. */
    engineMissing: string;
    /** Folder, in the process and system tiers. */
    programs: string;
    /** Folder of packages packed by this run, in the engine and system tiers. */
    packages: string;
  }
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Builds the engine and the base image before any test waits for them. Without Go, `npm test` continues without an
 * engine, but CI and the other tiers fail.
 *
 * @returns A function that ends the run.
 */
export default async function prepare(project: TestProject): Promise<() => Promise<void>> {
  const packages = await mkdtemp(path.join(tmpdir(), "steward-packages-"));
  project.provide("packages", packages);
  await prepareFor(project);
  return () => rm(packages, { recursive: true, force: true });
}

async function prepareFor(project: TestProject): Promise<void> {
  const { name } = project;
  // These tiers start programs hundreds of times. The bundle loads three times faster than the sources.
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
  if (name === "system" && (await dockerAvailable()).ok) await prepareBaseImage({ log });
}
