import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { verifiedImage } from "../../infra/registry/verified.ts";
import { docker, withRegistryLogin } from "../../infra/shell/docker.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { execute } from "../../scripts/execute.ts";
import { billOfImage, localImage, readRecord, writeRecord } from "../../scripts/release/artefacts.ts";
import { pushImages } from "../../scripts/release/push-image.ts";
import { signRelease } from "../../scripts/release/sign.ts";
import { engine } from "../support/docker.ts";
import { loadLayeredImage } from "../support/layered-image.ts";
import { noRegistry, REGISTRY_LOGIN, startRegistry, type Registry } from "../support/registry.ts";
import { cosign } from "./cosign.ts";

const VERSION = "9.1.0";
const ARCHITECTURES = ["amd64", "arm64"];
const BUILD_MS = 20 * 60_000;
const OFFLINE = "--insecure-ignore-tlog --output=json";

const signer = await cosign();
const missing = [...noRegistry, ...("missing" in signer ? [signer.missing] : [])];
const reason = missing.length > 0 ? ` (${missing.join(", ")})` : "";
if (reason !== "") process.stderr.write(`skipped: the released image at a registry${reason}\n`);

describe.skipIf(missing.length > 0)(`the released image at a registry${reason}`, () => {
  let registry: Registry;
  let folder: string;
  let repository: string;

  beforeAll(async () => {
    registry = await startRegistry();
    repository = `${registry.host}/example/steward`;
    folder = await mkdtemp(path.join(tmpdir(), "steward-image-"));
    await types("cosign generate-key-pair && cosign generate-key-pair --output-key-prefix=other");
    const record = { version: VERSION, commit: "c0ffee", package: "steward.tgz", imageHash: "hash" };
    await writeRecord(folder, record);
    for (const name of ["steward.tgz", "SHA256SUMS"]) await writeFile(path.join(folder, name), name);
    for (const arch of ARCHITECTURES) {
      const bill = { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, components: [], $comment: arch };
      await writeFile(path.join(folder, billOfImage(arch)), JSON.stringify(bill));
    }
  }, BUILD_MS);

  afterAll(async () => {
    await registry?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const withCosign = () => ({
    COSIGN_PASSWORD: "the-password-of-the-key",
    PATH: ["executable" in signer ? path.dirname(signer.executable) : "", process.env["PATH"]].join(
      path.delimiter,
    ),
  });
  /** Runs `work` with the registry's login and cosign on PATH. */
  const loggedIn = <T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> =>
    withRegistryLogin(registry.host, REGISTRY_LOGIN, (env) => work({ ...env, ...withCosign() }));
  const types = (
    line: string,
    env: NodeJS.ProcessEnv = { ...process.env, ...withCosign() },
  ): Promise<string> => execute("bash", ["-e", "-c", line], { cwd: folder, env });

  /** Puts an image without a layer at the registry: https://github.com/opencontainers/distribution-spec. Returns its name. */
  async function putImage(): Promise<string> {
    const { username, password } = REGISTRY_LOGIN;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
    const at = `http://${registry.host}/v2/example/steward`;
    const config = JSON.stringify({
      architecture: "amd64",
      os: "linux",
      rootfs: { type: "layers", diff_ids: [] },
    });
    const upload = await fetch(`${at}/blobs/uploads/`, { method: "POST", headers: { authorization } });
    const place = new URL(upload.headers.get("location") ?? "", at);
    place.searchParams.set("digest", digestOf(config));
    const headers = { authorization, "content-type": "application/octet-stream" };
    expect((await fetch(place, { method: "PUT", headers, body: config })).status).toBe(201);
    const type = "application/vnd.docker.distribution.manifest.v2+json";
    const manifest = JSON.stringify({
      schemaVersion: 2,
      mediaType: type,
      config: {
        mediaType: "application/vnd.docker.container.image.v1+json",
        size: config.length,
        digest: digestOf(config),
      },
      layers: [],
    });
    const put = { method: "PUT", headers: { authorization, "content-type": type }, body: manifest };
    expect((await fetch(`${at}/manifests/${VERSION}`, put)).status).toBe(201);
    return `${repository}@${digestOf(manifest)}`;
  }

  /** Signs the release with this image, as the workflow does, but with a key. */
  const sign = (image: string): Promise<void> =>
    loggedIn(async (env) => {
      const record = { ...(await readRecord(folder)), image };
      const key = path.join(folder, "cosign.key");
      await signRelease({ run: runProcess, env, key }, folder, record, ARCHITECTURES);
    });

  test("it is signed with its bills of materials, and a wrong key refuses both", async () => {
    const image = await putImage();
    const verify = (what: string, key: string) =>
      loggedIn((env) => types(`cosign ${what} --key ${key} ${OFFLINE} ${image}`, env));
    await expect(verify("verify", "cosign.pub")).rejects.toThrow("no signatures found");
    await sign(image);

    const [digest] = /sha256:\w+/.exec(image) ?? [];
    expect(await verify("verify", "cosign.pub")).toContain(digest);
    const attested = await verify("verify-attestation --type cyclonedx", "cosign.pub");
    const bills = [...attested.matchAll(/"payload": ?"([^"]+)"/g)].map(([, payload = ""]) =>
      Buffer.from(payload, "base64").toString(),
    );
    expect(bills.map((bill) => /"\$comment": ?"(\w+)"/.exec(bill)?.[1]).sort()).toEqual(ARCHITECTURES);
    await expect(verify("verify", "other.pub")).rejects.toThrow("signature");
    // As a stack of the released package does it, without cosign.
    const stack = async (key: string, bundle: string) =>
      loggedIn(async (env) => {
        const signer = { publicKey: await readFile(path.join(folder, key), "utf8") };
        const outside = { fetch, env: { ...env, XDG_CACHE_HOME: folder } };
        return verifiedImage({ image: `${repository}:${VERSION}`, signer, bundle }, outside);
      });
    await expect(stack("other.pub", "hash")).rejects.toMatchObject({ code: "image_unsigned" });
    await expect(stack("cosign.pub", "another")).rejects.toMatchObject({ code: "image_unsigned" });
    expect(await stack("cosign.pub", "hash")).toBe(image);
    await expect(verify("verify-attestation --type cyclonedx", "other.pub")).rejects.toThrow("signature");
  });

  test.skipIf(!engine.ok)(
    "the saved images of both processors become one name, which other images cannot take",
    async () => {
      const save = async (layers: number): Promise<void> => {
        for (const architecture of ARCHITECTURES) {
          const name = localImage(VERSION, architecture);
          await loadLayeredImage(name, { layers, architecture });
          await docker(["save", "--output", path.join(folder, `image-${architecture}.tar`), name]);
          await docker(["image", "rm", name]);
        }
      };
      const push = () =>
        loggedIn((env) => pushImages(folder, { repository: `${repository}-two`, version: VERSION, env }));
      onTestFinished(() => rm(path.join(folder, "image-amd64.tar"), { force: true }));

      await save(1);
      const image = await push();
      const list = await loggedIn((env) => types(`docker manifest inspect --insecure ${image}`, env));
      const { manifests } = JSON.parse(list) as { manifests: { platform: { architecture: string } }[] };
      expect(manifests.map(({ platform }) => platform.architecture).sort()).toEqual(ARCHITECTURES);
      expect(await push()).toBe(image);
      await sign(image);

      await save(2);
      await expect(push()).rejects.toMatchObject({ code: "image_released" });
      expect((await docker(["image", "ls", "--format", "{{.Repository}}"])).stdout).not.toContain(
        "steward-release",
      );
    },
  );
});
