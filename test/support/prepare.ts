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
    /** Reason why there is no Pulumi engine for `npm test`; empty if there is one. */
    engineMissing: string;
    /** Folder of the bundled programs, in the process and system tiers. */
    programs: string;
    /** Folder in which this run keeps the packages that it has packed, in the engine and system tiers. */
    packages: string;
  }
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Makes once what takes minutes on a cold cache, before any test waits for it: the engine, and the base image. `npm test`
 * goes on without an engine if Go is missing to build one; CI and the other tiers do not.
 *
 * @returns what ends the run
 */
export default async function prepare(project: TestProject): Promise<() => Promise<void>> {
  const packages = await mkdtemp(path.join(tmpdir(), "steward-packages-"));
  project.provide("packages", packages);
  await prepareFor(project);
  return () => rm(packages, { recursive: true, force: true });
}

async function prepareFor(project: TestProject): Promise<void> {
  const { name } = project;
  // Started hundreds of times: the bundle loads in a third of the sources' time.
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
