import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { explain, explanationText } from "../../infra/shell/explain.ts";
import { commandsFor } from "../../infra/shell/package.ts";
import { pushImage } from "../../infra/serverless/push-image.ts";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { fixFor, stackShell, typeFix } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { engine } from "../support/docker.ts";
import { startOwnEngine, type OwnEngine } from "../support/engine.ts";
import { loadLayeredImage } from "../support/layered-image.ts";
import { noRegistry, REGISTRY_LOGIN, startRegistry, type Registry } from "../support/registry.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../support/stack.ts";

const missing = [...(engine.ok ? [] : [engine.reason]), ...noRegistry];
const EXPIRED = { ...REGISTRY_LOGIN, password: "expired-0123456789" };

const reason = missing.length > 0 ? ` (${missing.join(", ")})` : "";

describe.skipIf(missing.length > 0)(`the image at the account's registry${reason}`, () => {
  const { DOCKER_HOST } = process.env;
  /** Of its own: elsewhere, another file may build the image again, with another digest, between two pushes. */
  let own: OwnEngine;
  let registry: Registry;
  let world: ServerlessStage;
  let subject: TestStack;
  /** The rights that were asked for, and what is handed out. */
  const asked: (readonly string[])[] = [];
  let credentials = EXPIRED;

  beforeAll(async () => {
    own = await startOwnEngine();
    process.env["DOCKER_HOST"] = own.address;
    await prepareBaseImage({ log: () => undefined });
    registry = await startRegistry();
    const issueCredentials = (permissions: readonly string[]) => {
      asked.push(permissions);
      return credentials;
    };
    world = await startServerlessStage({ issueCredentials });
    const config = {
      "steward:target": { value: "serverless" },
      "steward:accountId": { value: ACCOUNT },
      "steward:subdomain": { value: "acme" },
      "steward:origin": { value: world.front.url },
      "steward:registry": { value: registry.host },
      "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
    };
    subject = await world.bare({ name: "test", config });
  }, ENGINE_MS);

  afterAll(async () => {
    await world?.close();
    await registry?.close();
    if (DOCKER_HOST === undefined) delete process.env["DOCKER_HOST"];
    else process.env["DOCKER_HOST"] = DOCKER_HOST;
    await own?.close();
  }, UPDATE_MS);

  const access = (apiToken = TOKEN) => ({
    accountId: ACCOUNT,
    apiToken,
    baseURL: world.stage.cloudflare.url,
  });

  test(
    "a preview builds and pushes nothing, and asks for no credentials",
    async () => {
      await subject.stack.preview();
      expect(asked).toEqual([]);
      expect(await registry.repositories()).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "expired credentials stop the update with the fix before the Worker is touched",
    async () => {
      const failure = await subject.stack.up().then(() => "", String);

      expect(failure).toContain(`${registry.host} refuses the push: unauthorized`);
      expect(failure).toContain("(registry_refused)");
      expect(failure).toContain("fix: Deploy again: each deployment gets new credentials");
      expect(failure).not.toContain(EXPIRED.password);
      expect(world.stage.cloudflare.account.state.workers).toEqual([]);
    },
    ENGINE_MS,
  );

  test(
    "what is deployed is the digest of what was pushed",
    async () => {
      credentials = REGISTRY_LOGIN;
      const { outputs } = await subject.stack.up();

      const reference = String(outputs["image"]?.value);
      // In plain: an operator compares it.
      expect(await stateText(subject)).toContain(reference);
      const [repository, digest] = reference.split("@");
      expect(repository).toBe(`${registry.host}/${ACCOUNT}/steward`);
      const { stdout } = await docker(["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"]);
      // The tag at the registry is the bundle's hash, which names the local image too; no other name is left here.
      const tags = stdout.split("\n").filter((name) => name.startsWith("steward:"));
      const digests = await Promise.all(
        tags.map((name) => registry.digest(`${ACCOUNT}/steward`, name.replace("steward:", ""))),
      );
      expect(digests.filter((one) => one !== null)).toEqual([digest]);
      expect(stdout).not.toContain(registry.host);
      expect(world.stage.cloudflare.account.state.applications).toMatchObject([
        { configuration: { image: reference, instance_type: "lite" } },
      ]);
      expect(asked.at(-1)).toEqual(["push", "pull"]);
    },
    ENGINE_MS,
  );

  test(
    "the credentials are kept nowhere, and the API's token only encrypted",
    async () => {
      const state = await stateText(subject);
      const own = join(homedir(), ".docker/config.json");
      const kept = existsSync(own) ? await readFile(own, "utf8") : "";
      const { username, password } = REGISTRY_LOGIN;
      const auth = Buffer.from(`${username}:${password}`).toString("base64");
      expect([password, auth, TOKEN].filter((secret) => state.includes(secret))).toEqual([]);
      expect(kept).not.toContain(registry.host);
    },
    UPDATE_MS,
  );

  test(
    "an unchanged image is not pushed again; another instance type looks at its size anew",
    async () => {
      const before = asked.length;
      const preview = await subject.stack.preview();
      expect(Object.keys(preview.changeSummary)).toEqual(["same"]);

      await subject.stack.setConfig("steward:instanceType", { value: "basic" });
      const image = (await subject.stack.outputs())["image"]?.value;
      const { outputs } = await subject.stack.up();
      expect(outputs["image"]?.value).toBe(image);
      expect(asked).toHaveLength(before + 1);
    },
    UPDATE_MS,
  );

  /** Pushes for the type of the stack's settings. Returns what is printed where that is refused. */
  async function pushLayered(image: string): Promise<string> {
    const { value: instanceType } = await subject.stack.getConfig("steward:instanceType");
    const target = { registry: registry.host, instanceType: instanceType as "lite" };
    return pushImage(access(), { image, tag: "large", ...target }).then(
      () => "",
      (error: unknown) => explanationText(explain(error, commandsFor("test"))),
    );
  }

  const pushed = () => registry.digest(`${ACCOUNT}/steward`, "large");

  test(
    "an image of another processor is refused before anything is asked or pushed",
    async () => {
      const before = asked.length;
      await loadLayeredImage("steward-test:layers", { layers: 1, architecture: "arm64" });
      onTestFinished(async () => void (await docker(["image", "rm", "steward-test:layers"])));
      expect(await pushLayered("steward-test:layers")).toContain(
        "steward-test:layers is for linux/arm64, not for linux/amd64",
      );
      expect(asked).toHaveLength(before);
      expect(await pushed()).toBeNull();
    },
    UPDATE_MS,
  );

  test(
    "an image whose layers the disk does not hold is refused too, and the type that is printed holds it",
    async () => {
      await subject.stack.setConfig("steward:instanceType", { value: "lite" });
      const before = asked.length;
      await loadLayeredImage("steward-test:layers", { layers: 120 });
      onTestFinished(async () => void (await docker(["image", "rm", "steward-test:layers"])));
      const said = await pushLayered("steward-test:layers");
      expect(said).toContain("The image needs 2014 MB of disk (120 layers), and lite has 2000 MB;");
      expect(asked).toHaveLength(before);
      expect(await pushed()).toBeNull();

      const [, smallest = ""] = /the smallest that fits is (\w+)/.exec(said) ?? [];
      const fill = (line: string) => line.replace("<type>", smallest);
      await typeFix(await stackShell(subject, "image"), fixFor("image_too_large", said), fill);
      expect(await pushLayered("steward-test:layers")).toBe("");
      expect(await pushed()).not.toBeNull();
    },
    UPDATE_MS,
  );

  test(
    "an API token without the right is told as such",
    async () => {
      await loadLayeredImage("steward-test:small", { layers: 1 });
      const push = pushImage(access("another-token_0123456789abcdefghijklmnopqrst"), {
        image: "steward-test:small",
        tag: "small",
        registry: registry.host,
        instanceType: "lite",
      });
      await expect(push).rejects.toMatchObject({
        code: "registry_refused",
        message: expect.stringContaining(`Cloudflare issues no credentials for ${registry.host}`),
      });
      await docker(["image", "rm", "steward-test:small"]);
    },
    UPDATE_MS,
  );
});
