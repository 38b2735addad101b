import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Hono } from "hono";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifiedImage } from "../../../infra/registry/verified.ts";

const HOST = "registry.example.test";
const IMAGE = `${HOST}/acme/steward`;
const TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const MANIFEST = JSON.stringify({ schemaVersion: 2, manifests: [] });
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const DIGEST = `sha256:${sha256(MANIFEST)}`;

const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (key: KeyObject): string => key.export({ type: "spki", format: "pem" }).toString();
const [own, other] = [pair(), pair()];

/** A signature as cosign 3 stores it: https://github.com/secure-systems-lab/dsse/blob/master/protocol.md */
function signature(key: KeyObject, { digest = DIGEST, bundle = "code-1" } = {}): string {
  const payload = JSON.stringify({
    _type: "https://in-toto.io/Statement/v1",
    subject: [
      { digest: { sha256: digest.slice("sha256:".length) }, annotations: { "steward.bundle": bundle } },
    ],
    predicateType: "https://sigstore.dev/cosign/sign/v1",
    predicate: {},
  });
  const payloadType = "application/vnd.in-toto+json";
  const signed = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} ${payload}`;
  const sig = sign("sha256", Buffer.from(signed), key).toString("base64");
  return JSON.stringify({
    mediaType: TYPE,
    verificationMaterial: { publicKey: { hint: "any" } },
    dsseEnvelope: { payload: Buffer.from(payload).toString("base64"), payloadType, signatures: [{ sig }] },
  });
}

interface Registry {
  signatures: string[];
  /** False: the list of signatures is under a tag, as the registries of before the referrers API have it. */
  hasReferrers: boolean;
  /** Answers in its place. */
  fault: (() => Response) | undefined;
  asked: string[];
}

/** A registry that gives a token for nothing, or for the login, as public ones do. */
function registryOf(state: Registry): typeof fetch {
  const app = new Hono();
  const list = () => ({
    manifests: [
      { digest: "sha256:bill", artifactType: "application/vnd.cyclonedx+json" },
      ...state.signatures.map((_, index) => ({ digest: `sha256:of-${index}`, artifactType: TYPE })),
    ],
  });
  app.get("/token", ({ req, json }) => {
    expect(req.query()).toEqual({ service: HOST, scope: "repository:acme/steward:pull" });
    return json({ token: req.header("authorization") === undefined ? "anybody" : "somebody" });
  });
  app.use("/v2/*", async (context, next) => {
    if (/^Bearer (?:any|some)body$/.test(context.req.header("authorization") ?? "")) return next();
    const challenge = `Bearer realm="https://${HOST}/token",service="${HOST}",scope="any"`;
    return context.body(null, 401, { "www-authenticate": challenge });
  });
  app.get("/v2/acme/steward/manifests/1.0.0", ({ body }) => body(MANIFEST));
  app.get("/v2/acme/steward/referrers/:digest", (context) =>
    state.hasReferrers ? context.json(list()) : context.notFound(),
  );
  app.get(`/v2/acme/steward/manifests/${DIGEST.replace(":", "-")}`, (context) =>
    state.hasReferrers ? context.notFound() : context.json(list()),
  );
  app.get("/v2/acme/steward/manifests/:name{sha256:of-.*}", ({ req, json }) =>
    json({ layers: [{ digest: req.param("name").replace("of", "content") }] }),
  );
  app.get("/v2/acme/steward/blobs/:name{sha256:content-.*}", ({ req, body }) =>
    body(state.signatures[Number(req.param("name").split("-").at(-1))] ?? ""),
  );
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    state.asked.push(pathname);
    return state.fault?.() ?? app.fetch(request);
  };
}

describe("an image that has to be signed", () => {
  let folder: string;
  let state: Registry;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "steward-verified-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(() => {
    state = { signatures: [], hasReferrers: true, fault: undefined, asked: [] };
  });

  const verify = (image = `${IMAGE}:1.0.0`, bundle?: string) =>
    verifiedImage(
      { image, signer: { publicKey: pem(own.publicKey) }, bundle },
      { fetch: registryOf(state), env: { DOCKER_CONFIG: folder, XDG_CACHE_HOME: folder } },
    );

  test.each([true, false])("is named by its digest (referrers API: %s)", async (hasReferrers) => {
    state = { ...state, hasReferrers, signatures: [signature(other.privateKey), signature(own.privateKey)] };
    expect(await verify()).toBe(`${IMAGE}@${DIGEST}`);
    expect(await verify(`${IMAGE}@${DIGEST}`)).toBe(`${IMAGE}@${DIGEST}`);
  });

  test.each([
    ["no signature", () => [], "it has no cosign 3 signature"],
    ["another key", () => [signature(other.privateKey)], "signature verification failed"],
    [
      "another image's signature",
      () => [signature(own.privateKey, { digest: `sha256:${sha256("x")}` })],
      "it belongs to another image",
    ],
    ["a signature that is none", () => ["{}", "no JSON", "[]"], "none of its signatures is valid"],
    [
      "a changed statement",
      () => [
        signature(own.privateKey).replace(
          /"payload":"[^"]+"/,
          `"payload":"${Buffer.from("{}").toString("base64")}"`,
        ),
      ],
      "signature verification failed",
    ],
  ])("is refused with %s", async (_what, signatures, why) => {
    state.signatures = signatures();
    await expect(verify()).rejects.toMatchObject({
      code: "image_unsigned",
      reason: expect.stringContaining(why),
    });
  });

  test("has to be of the package's own code, and is asked for once", async () => {
    state.signatures = [signature(own.privateKey)];
    await expect(verify(undefined, "code-2")).rejects.toMatchObject({
      code: "image_unsigned",
      reason: expect.stringContaining("it is of an image with the code code-1, not code-2"),
    });
    expect(await verify(undefined, "code-1")).toBe(`${IMAGE}@${DIGEST}`);
    state.asked = [];
    expect(await verify(undefined, "code-1")).toBe(`${IMAGE}@${DIGEST}`);
    expect(state.asked).toEqual([]);
  });

  test("an identity is not proven by a key", async () => {
    state.signatures = [signature(own.privateKey)];
    const signer = { identity: "https://github.com/acme/steward/.github/workflows/release.yml", issuer: "x" };
    const root = {
      mediaType: "",
      certificateAuthorities: [],
      timestampAuthorities: [],
      tlogs: [],
      ctlogs: [],
    };
    const outside = {
      fetch: registryOf(state),
      env: { DOCKER_CONFIG: folder },
      authorities: async () => root,
    };
    await expect(verifiedImage({ image: `${IMAGE}:1.0.0`, signer }, outside)).rejects.toMatchObject({
      code: "image_unsigned",
    });
  });

  test.each([
    ["image_not_found", () => new Response("", { status: 404 })],
    ["image_registry_refused", () => new Response("", { status: 403 })],
    ["image_registry_refused", () => new Response("x".repeat(5 << 20))],
    [
      "image_registry_refused",
      () =>
        new Response("", {
          status: 401,
          headers: { "www-authenticate": 'Bearer realm="http://elsewhere.example.test/"' },
        }),
    ],
    [
      "image_registry_unreachable",
      () => {
        throw new TypeError("fetch failed");
      },
    ],
  ])("a registry's failure is reported as %s", async (code, fault) => {
    state.fault = fault;
    await expect(verify()).rejects.toMatchObject({ code });
  });

  test("the login of the docker command is used where the registry asks for one", async () => {
    const auth = Buffer.from("me:the-password").toString("base64");
    await writeFile(path.join(folder, "config.json"), JSON.stringify({ auths: { [HOST]: { auth } } }));
    state.signatures = [signature(own.privateKey)];
    const logins: (string | null)[] = [];
    const inner = registryOf(state);
    const outside = {
      env: { DOCKER_CONFIG: folder },
      fetch: (async (input, init) => {
        const request = new Request(input, init);
        if (new URL(request.url).pathname === "/token") logins.push(request.headers.get("authorization"));
        return inner(request);
      }) as typeof fetch,
    };
    await verifiedImage({ image: `${IMAGE}:1.0.0`, signer: { publicKey: pem(own.publicKey) } }, outside);
    expect(logins).toEqual([`Basic ${auth}`]);
  });
});
