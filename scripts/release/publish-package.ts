import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import semver from "semver";
import * as z from "zod";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { PACKAGE } from "../../infra/shell/package.ts";
import { type runProcess, tail } from "../../infra/shell/process.ts";
import type { ReleaseRecord } from "./artefacts.ts";

/** Runner of npm commands. Its environment determines the registry and the login. */
export interface Npm {
  run: typeof runProcess;
  env: NodeJS.ProcessEnv;
}

/**
 * Returns `undefined` if the registry lacks the version.
 *
 * @throws BuildFailure `npm_unreachable`
 */
export async function publishedIntegrity(npm: Npm, version: string): Promise<string | undefined> {
  const words = ["view", `${PACKAGE}@${version}`, "dist.integrity", "--json"];
  const asked = await npm.run("npm", words, { env: npm.env });
  // npm prints nothing if the package exists without this version.
  if (asked.code === 0)
    return asked.stdout.trim() === "" ? undefined : z.string().parse(JSON.parse(asked.stdout));
  if (/\bE404\b/.test(asked.stdout + asked.stderr)) return undefined;
  throw new BuildFailure(
    "npm_unreachable",
    `npm's registry does not say if it has ${PACKAGE} ${version}: ${tail(asked, 3)}`,
    "npm ping shows the state of the registry.",
  );
}

/**
 * Publishes the package to npm. A prerelease gets the tag `next`. Does nothing if the registry has an identical file.
 *
 * @param provenance needs the workflow's OIDC token: https://docs.npmjs.com/generating-provenance-statements
 * @returns true if this call published the package
 * @throws BuildFailure `version_released` if the registry has this version with other content; `npm_unreachable`,
 * `npm_refused`
 */
export async function publishPackage(
  npm: Npm,
  folder: string,
  { package: file, version }: ReleaseRecord,
  { provenance }: { provenance: boolean },
): Promise<boolean> {
  const tarball = path.join(folder, file);
  const integrity = `sha512-${createHash("sha512")
    .update(await readFile(tarball))
    .digest("base64")}`;
  const published = await publishedIntegrity(npm, version);
  if (published === integrity) return false;
  if (published !== undefined) {
    throw new BuildFailure(
      "version_released",
      `npm's registry has ${PACKAGE} ${version} with other content: ${published}`,
      `npm run release -- --prepare ${semver.inc(version, "patch")}`,
    );
  }
  const tag = semver.prerelease(version) === null ? "latest" : "next";
  const words = ["publish", tarball, "--access=public", `--tag=${tag}`, `--provenance=${provenance}`];
  const finished = await npm.run("npm", words, { env: npm.env });
  if (finished.code === 0) return true;
  throw new BuildFailure(
    "npm_refused",
    `npm did not publish ${PACKAGE} ${version}: ${tail(finished, 5)}`,
    "Make release.yml a trusted publisher of the package (https://docs.npmjs.com/trusted-publishers), or npm login.",
  );
}
