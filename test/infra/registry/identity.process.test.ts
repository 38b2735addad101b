import { createHash, generateKeyPairSync } from "node:crypto";
import { fulcioHandler, initializeCA, initializeCTLog, initializeTLog, rekorHandler } from "@sigstore/mock";
import { DSSEBundleBuilder, FulcioSigner, RekorWitness } from "@sigstore/sign";
import { bundleToJSON } from "@sigstore/bundle";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TrustedRoot, type Verify, verifierOf } from "../../../infra/registry/signature.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";

/** The identity and the issuer that a released package names: its workflow, for the release's tag. */
const SIGNER = {
  identity: "https://github.com/example/steward/.github/workflows/release.yml@refs/tags/v0.1.0",
  issuer: "https://token.actions.githubusercontent.com",
};
const DIGEST = `sha256:${"a".repeat(64)}`;
const CLAIM = { digest: DIGEST, bundle: "code-1" };
const SINCE = { start: new Date(0), end: undefined };

const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

/**
 * Sigstore's services, by its own mocks: an authority for certificates, and the logs of certificates and signatures. The
 * mock of Rekor does not model entries of the kind `dsse`, which cosign writes; `intoto` stands for them.
 */
async function startSigstore(): Promise<{ server: Listening; root: TrustedRoot }> {
  const ctLog = await initializeCTLog(pair());
  const authority = await initializeCA(pair(), ctLog);
  const rekor = "https://rekor.example.test";
  const log = await initializeTLog(rekor, pair());
  const app = new Hono();
  for (const { path, fn } of [fulcioHandler(authority), rekorHandler(log)]) {
    app.post(path, async ({ req }) => {
      const { statusCode, response } = await fn(await req.text());
      return new Response(String(response), {
        status: statusCode,
        headers: { "content-type": "application/json", location: "/" },
      });
    });
  }
  const logOf = (publicKey: Buffer, baseUrl = "") => ({
    baseUrl,
    hashAlgorithm: 1,
    publicKey: { rawBytes: publicKey, keyDetails: 5, validFor: SINCE },
    logId: { keyId: createHash("sha256").update(publicKey).digest() },
    checkpointKeyId: undefined,
    operator: "",
  });
  const root = {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    certificateAuthorities: [
      {
        subject: undefined,
        uri: "",
        certChain: { certificates: [{ rawBytes: authority.rootCertificate as Buffer }] },
        validFor: SINCE,
        operator: "",
      },
    ],
    ctlogs: [logOf(ctLog.publicKey)],
    tlogs: [logOf(log.publicKey, rekor)],
    timestampAuthorities: [],
  };
  return { server: await listen(app, { hostname: "127.0.0.1", port: 0 }), root };
}

describe("a signature without a key", () => {
  let sigstore: Awaited<ReturnType<typeof startSigstore>>;
  let verify: Verify;

  beforeAll(async () => {
    sigstore = await startSigstore();
    verify = await verifierOf(SIGNER, async () => sigstore.root);
  });
  afterAll(() => sigstore.server.close());

  /** Signs as the release's workflow does, with the token of an identity. */
  async function sign({ identity, issuer } = SIGNER, bundle = "code-1"): Promise<Buffer> {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const token = `${part({ alg: "none" })}.${part({ sub: identity, iss: issuer, aud: "sigstore" })}.`;
    const { url } = sigstore.server;
    const signer = new FulcioSigner({
      fulcioBaseURL: url,
      identityProvider: { getToken: async () => token },
    });
    const builder = new DSSEBundleBuilder({
      signer,
      witnesses: [new RekorWitness({ rekorBaseURL: url, entryType: "intoto" })],
    });
    const statement = {
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ digest: { sha256: "a".repeat(64) }, annotations: { "steward.bundle": bundle } }],
      predicateType: "https://sigstore.dev/cosign/sign/v1",
      predicate: {},
    };
    const made = await builder.create({
      type: "application/vnd.in-toto+json",
      data: Buffer.from(JSON.stringify(statement)),
    });
    return Buffer.from(JSON.stringify(bundleToJSON(made)));
  }

  test("counts if the workflow of the release's tag made it, for this image and its code", async () => {
    const signature = await sign();
    expect(verify(signature, CLAIM)).toBeUndefined();
    expect(verify(signature, { ...CLAIM, digest: `sha256:${"b".repeat(64)}` })).toBe(
      "it belongs to another image",
    );
    expect(verify(signature, { ...CLAIM, bundle: "code-2" })).toContain("code-1, not code-2");
  });

  test.each([
    { what: "another tag", change: { identity: SIGNER.identity.replace("v0.1.0", "v0.1.1") } },
    { what: "a longer tag", change: { identity: `${SIGNER.identity}-rc` } },
    { what: "another repository", change: { identity: SIGNER.identity.replace("example", "someone") } },
    {
      what: "a name that the pattern would take",
      change: { identity: SIGNER.identity.replace(".yml", "-yml") },
    },
    { what: "another issuer", change: { issuer: "https://token.example.test" } },
  ])("does not count from $what", async ({ change }) => {
    const why = verify(await sign({ ...SIGNER, ...change }), CLAIM);
    expect(why).toMatch(/^certificate identity error|^invalid certificate extension/);
  });

  test("does not count from another authority, nor changed", async () => {
    const other = await startSigstore();
    const elsewhere = await verifierOf(SIGNER, async () => other.root);
    await other.server.close();
    const signature = await sign();
    expect(elsewhere(signature, CLAIM)).toBe("Failed to verify certificate chain");
    const text = signature.toString();
    const [, payload = ""] = /"payload":"([^"]+)"/.exec(text) ?? [];
    const changed = Buffer.from(payload, "base64").toString().replace("code-1", "code-3");
    const forged = text.replace(payload, Buffer.from(changed).toString("base64"));
    expect(verify(Buffer.from(forged), { ...CLAIM, bundle: "code-3" })).toEqual(expect.any(String));
  });
});
