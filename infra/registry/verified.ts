import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { BuildFailure, failureOf } from "../shell/failure.ts";
import { cacheRoot, writeFileAtomically } from "../shell/cache.ts";
import { dockerLogin } from "../shell/docker.ts";
import { isDigest, parseImageName } from "./image-name.ts";
import { Repository } from "./registry.ts";
import { SIGNATURE_TYPE, type Signer, type TrustedRoot, verifierOf } from "./signature.ts";

export interface SignedImage {
  /** Name with a tag or digest. */
  image: string;
  signer: Signer;
  /** Hash of the code that must be in the image. Default: any. */
  bundle?: string | undefined;
}

/** External dependencies of the signature check. */
export interface Outside {
  fetch: typeof fetch;
  env: NodeJS.ProcessEnv;
  /** Returns Sigstore's root of trust. Default: the public service's root. */
  authorities?: () => Promise<TrustedRoot>;
}

const OUTSIDE: Outside = { fetch: (...request) => fetch(...request), env: process.env };

/**
 * Verifies an image's signature without pulling the image.
 *
 * @returns the image's immutable name, which contains its digest
 * @throws BuildFailure `image_unsigned`, `image_not_found`, `image_registry_unreachable`, `image_registry_refused`,
 * `sigstore_unreachable`
 */
export async function verifiedImage(signed: SignedImage, outside: Outside = OUTSIDE): Promise<string> {
  const { image, signer, bundle } = signed;
  // Use the cache only if `bundle`, the hash of the image's code, is given. Otherwise, the tag may have moved to
  // other code.
  const kept = bundle === undefined ? undefined : keptFile(signed, outside.env);
  const known = kept && (await readFile(kept, "utf8").catch(() => undefined));
  if (known !== undefined) return known;
  const name = parseImageName(image);
  const login = (host: string) => dockerLogin(host, outside.env);
  const repository = new Repository({ fetch: outside.fetch, login }, name);
  const digest = isDigest(name.reference) ? name.reference : await repository.digest();
  const signatures = await repository.artifacts(digest, SIGNATURE_TYPE);
  const verify = await verifierOf(signer, outside.authorities ?? (() => publicAuthorities(outside.env)));
  const refused: string[] = [];
  for (const signature of signatures) {
    const why = verify(signature, { digest, bundle });
    if (why === undefined) return await keep(kept, `${name.name}@${digest}`);
    refused.push(why);
  }
  throw unsigned(`${name.name}@${digest}`, signer, refused);
}

function unsigned(image: string, signer: Signer, refused: readonly string[]): BuildFailure {
  const whose = "publicKey" in signer ? "the given key" : signer.identity;
  const found =
    refused.length === 0
      ? "it has no cosign 3 signature"
      : `none of its signatures is valid: ${[...new Set(refused)].join("; ")}`;
  return new BuildFailure(
    "image_unsigned",
    `the image ${image} is not signed by ${whose}: ${found}`,
    ({ configSet }) =>
      `Do not use it. An image of this package's own code is built by: \`${configSet("steward:image", "build")}\``,
  );
}

/** Returns Sigstore's public root of trust. Sigstore's client library verifies and caches the root. */
async function publicAuthorities(env: NodeJS.ProcessEnv): Promise<TrustedRoot> {
  // Import lazily: verification with a key does not need this package.
  const { getTrustedRoot } = await import("@sigstore/tuf");
  try {
    return await getTrustedRoot({ cachePath: path.join(cacheRoot(env), "sigstore") });
  } catch (error) {
    throw new BuildFailure(
      "sigstore_unreachable",
      `the authorities that vouch for the image's signer cannot be read: ${failureOf(error)}`,
      ({ configSet }) => `Try again, or build the image here: \`${configSet("steward:image", "build")}\``,
    );
  }
}

function keptFile(signed: SignedImage, env: NodeJS.ProcessEnv): string {
  const key = createHash("sha256").update(JSON.stringify(signed)).digest("hex").slice(0, 16);
  return path.join(cacheRoot(env), "images", key);
}

async function keep(file: string | undefined, name: string): Promise<string> {
  if (file === undefined) return name;
  await writeFileAtomically(file, name);
  return name;
}
