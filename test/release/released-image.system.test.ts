import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { stewardImage } from "../../infra/bundle/image.ts";
import { docker, imageId } from "../../infra/shell/docker.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { execute } from "../../scripts/execute.ts";
import { signRelease } from "../../scripts/release/sign.ts";
import { HOST_NAMES } from "../../runtime/contract/names.ts";
import { type as typeLine } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { engine } from "../support/docker.ts";
import { holdHostNames } from "../support/host-names.ts";
import { freePort } from "../support/ports.ts";
import { noRegistry, REGISTRY_LOGIN, startRegistry, type Registry } from "../support/registry.ts";
import { startServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { cosign } from "./cosign.ts";
import { emptyProject, type Project } from "./project.ts";

const { container, volume } = HOST_NAMES;
const VERSION = "9.1.0";

const signer = await cosign();
const missing = [
  ...(engine.ok ? [] : [engine.reason]),
  ...noRegistry,
  ...("missing" in signer ? [signer.missing] : []),
];
const reason = missing.length > 0 ? ` (${missing.join(", ")})` : "";
if (reason !== "") process.stderr.write(`skipped: a stack of the released image${reason}\n`);

describe.skipIf(missing.length > 0)(`a stack of the released image${reason}`, () => {
  let registry: Registry;
  let folder: string;
  let project: Project;
  let reference: string;
  let imageHash: string;
  let release: () => void;

  beforeAll(
    async () => {
      release = await holdHostNames();
      registry = await startRegistry({ isPublic: true });
      folder = await mkdtemp(path.join(tmpdir(), "steward-released-image-"));
      await types("cosign generate-key-pair && cosign generate-key-pair --output-key-prefix=other");
      const publicKey = await readFile(path.join(folder, "cosign.pub"), "utf8");
      const name = `${registry.host}/example/steward:${VERSION}`;
      project = await emptyProject("released-image", {
        docker: true,
        image: { name, signer: { publicKey } },
      });
      await project.begin("host");
      await project.configure(
        {
          "steward:hostPort": String(await freePort()),
          "steward:endpoints": `{"anthropic":"http://127.0.0.1:9"}`,
        },
        {
          "steward:adminToken": "the-admin-token-that-nobody-may-read",
          "steward:anthropicApiKey": "sk-test-0123456789",
        },
      );
    },
    ENGINE_MS + UPDATE_MS * 2,
  );

  afterAll(async () => {
    if (missing.length > 0) return;
    await docker(["rm", "--force", container, `${container}-former`]);
    await docker(["volume", "rm", "--force", volume]);
    await registry?.close();
    await project?.remove();
    await rm(folder, { recursive: true, force: true });
    release?.();
  }, UPDATE_MS);

  const environment = () => ({
    ...process.env,
    COSIGN_PASSWORD: "the-password-of-the-key",
    PATH: ["executable" in signer ? path.dirname(signer.executable) : "", process.env["PATH"]].join(
      path.delimiter,
    ),
  });
  const types = (line: string) => execute("bash", ["-e", "-c", line], { cwd: folder, env: environment() });
  /** Signs the image as a release does. */
  const sign = async (key: string): Promise<void> => {
    const record = {
      version: VERSION,
      commit: "c0ffee",
      package: "steward.tgz",
      imageHash,
      image: reference,
    };
    for (const file of ["steward.tgz", "SHA256SUMS"]) await writeFile(path.join(folder, file), file);
    await signRelease(
      { run: runProcess, env: environment(), key: path.join(folder, key) },
      folder,
      record,
      [],
    );
  };
  const refused = async (line: string): Promise<string> => {
    const { code, said } = await typeLine(project.shell, line);
    expect(code, said).not.toBe(0);
    expect((await project.works("pulumi stack -s dev --show-urns")).said).toContain(
      "No resources currently in this stack",
    );
    expect(await runProcess("docker", ["container", "inspect", container])).toMatchObject({ code: 1 });
    return said;
  };

  test(
    "an image that is missing, unsigned or signed by somebody else is refused, and nothing is made",
    async () => {
      expect(await refused("pulumi preview -s dev")).toContain("(image_not_found)");

      const bundle = await buildBundle();
      imageHash = bundle.container.hash;
      const { image } = await stewardImage(bundle, () => undefined);
      const name = `${registry.host}/example/steward:${VERSION}`;
      await docker(["tag", image, name]);
      await docker(["push", "--quiet", name]);
      await docker(["image", "rm", name]);
      reference = `${registry.host}/example/steward@${await registry.digest("example/steward", VERSION)}`;
      expect(await refused("pulumi up -s dev")).toContain("it has no cosign 3 signature");

      await sign("other.key");
      const said = await refused("pulumi up -s dev");
      expect(said).toContain("(image_unsigned)");
      expect(said).toContain("fix: Do not use it.");
    },
    UPDATE_MS * 2,
  );

  test(
    "the signed image runs by its digest, and the next preview is empty",
    async () => {
      await sign("cosign.key");
      expect((await project.works("pulumi up -s dev")).said).toMatch(/readiness +: "ok   GET \/healthz/);
      const { stdout } = await docker(["container", "inspect", "--format", "{{.Image}}", container]);
      expect(stdout.trim()).toBe(await imageId(reference));
      expect((await project.works("pulumi preview -s dev")).said).toMatch(/Resources:\n +\d+ unchanged\n/);
      // An upgrade tries this image on a copy of the data.
      const published = await project.works("npx steward-deploy image --published");
      expect(published.said.trim()).toBe(reference);
    },
    UPDATE_MS * 2,
  );

  test(
    "the printed way out builds the same code here",
    async () => {
      await project.works("pulumi config set -s dev steward:image build");
      expect((await project.works("pulumi up -s dev")).said).toMatch(/readiness +: "ok   GET \/healthz/);
      expect((await project.works("pulumi destroy -s dev")).said).toMatch(/- \d+ deleted/);
    },
    UPDATE_MS * 2,
  );

  test(
    "a serverless stack copies the signed image into the account's registry",
    async () => {
      const world = await startServerlessStage({ issueCredentials: () => REGISTRY_LOGIN });
      onTestFinished(() => world.close());
      await project.works("pulumi stack init account");
      await project.configure(
        {
          "steward:target": "serverless",
          "steward:accountId": ACCOUNT,
          "steward:subdomain": "acme",
          "steward:origin": world.front.url,
          "steward:registry": registry.host,
          "cloudflare:baseUrl": world.stage.cloudflare.url,
        },
        { "steward:anthropicApiKey": "sk-test-0123456789", "cloudflare:apiToken": TOKEN },
        project.shell,
        "account",
      );
      await project.works("pulumi up -s account");
      const [, digest] = reference.split("@");
      expect(world.stage.cloudflare.account.state.applications).toMatchObject([
        { configuration: { image: `${registry.host}/${ACCOUNT}/steward@${digest}` } },
      ]);
      expect((await project.works("pulumi preview -s account")).said).toMatch(
        /Resources:\n +\d+ unchanged\n/,
      );
      await project.works("pulumi destroy -s account");
    },
    UPDATE_MS * 3,
  );
});
