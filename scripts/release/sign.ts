import path from "node:path";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { type runProcess, tail } from "../../infra/shell/process.ts";
import { BUNDLE_ANNOTATION } from "../../infra/registry/signature.ts";
import { billOfImage, type ReleaseRecord, signatureOf, SUMS } from "./artefacts.ts";

export interface ReleaseSigner {
  run: typeof runProcess;
  /** COSIGN_PASSWORD decrypts the private key. */
  env: NodeJS.ProcessEnv;
  /**
   * File of the private key. Without a key, cosign signs with the workflow's OIDC token and writes to the public log.
   */
  key?: string | undefined;
}

/**
 * Signs the package and the checksums in the folder, and the image and its bills of materials in the registry.
 *
 * https://docs.sigstore.dev/cosign/signing/overview/
 *
 * @throws BuildFailure `cosign_missing`, `signing_failed`
 */
export async function signRelease(
  signer: ReleaseSigner,
  folder: string,
  { package: file, image, imageHash }: ReleaseRecord,
  processors: readonly string[],
): Promise<void> {
  for (const name of [file, SUMS]) {
    const subject = path.join(folder, name);
    await cosign(signer, "sign-blob", ["--bundle", signatureOf(subject), subject]);
  }
  if (image === undefined) return;
  // A stack accepts an image only if the signature contains the hash of the stack's bundle.
  await cosign(signer, "sign", ["--recursive", "--annotations", `${BUNDLE_ANNOTATION}=${imageHash}`, image]);
  for (const arch of processors) {
    const predicate = path.join(folder, billOfImage(arch));
    await cosign(signer, "attest", ["--type", "cyclonedx", "--predicate", predicate, image]);
  }
}

async function cosign({ run, env, key }: ReleaseSigner, command: string, words: string[]): Promise<void> {
  // With a key, cosign needs neither Sigstore's services nor the public log.
  const way = key === undefined ? [] : ["--key", key, "--use-signing-config=false", "--tlog-upload=false"];
  await succeed({ run, env }, command, ["--yes", ...way, ...words]);
}

/** Returns PEM. */
export async function publicKeyOf({ run, env, key = "" }: ReleaseSigner): Promise<string> {
  return succeed({ run, env }, "public-key", ["--key", key]);
}

export function workflowSigner(repository: string, tag: string): { identity: string; issuer: string } {
  return {
    identity: `${repository}/.github/workflows/release.yml@refs/tags/${tag}`,
    issuer: "https://token.actions.githubusercontent.com",
  };
}

async function succeed({ run, env }: ReleaseSigner, command: string, words: string[]): Promise<string> {
  const finished = await run("cosign", [command, ...words], { env });
  if (finished.code === 0) return finished.stdout;
  if (finished.missing) {
    throw new BuildFailure(
      "cosign_missing",
      "the release is signed with cosign, which is not installed",
      "Install it (https://docs.sigstore.dev/cosign/system_config/installation/).",
    );
  }
  throw new BuildFailure(
    "signing_failed",
    `cosign ${command} failed: ${tail(finished, 3)}`,
    "In a workflow the job needs `id-token: write`. Elsewhere set RELEASE_KEY to a private key, and COSIGN_PASSWORD.",
  );
}
