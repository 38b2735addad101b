import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { engine } from "../support/docker.ts";
import { exampleConfig } from "../support/example-stack.ts";
import { createHostStack } from "../support/host-stack.ts";
import { previewed, type PreviewedResource } from "../support/previewed.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { unknownProperties } from "../support/provider-schema.ts";

/** The secrets that the examples' comments tell to set. */
const SECRETS: ConfigMap = {
  "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
  "steward:slackBotToken": { value: "xoxb-test-0123456789", secret: true },
  "steward:slackSigningSecret": { value: "the-signing-secret-0123", secret: true },
};
const MORE_CHANNELS: ConfigMap = {
  "steward:telegramBotToken": { value: "1234567890:the-bots-token", secret: true },
  "steward:discordBotToken": { value: "the-bots-token", secret: true },
  "steward:discordApplicationId": { value: "1000000000000000001" },
  "steward:discordPublicKey": { value: "0".repeat(64) },
};

/**
 * What the example stacks would create. After a change that is meant: `npx vitest run --project node
 * test/stacks/golden.test.ts -u`, and the difference belongs into the commit.
 */
describe("the previews of the example stacks", () => {
  let world: ServerlessStage;
  let hashes: string[];

  beforeAll(async () => {
    world = await startServerlessStage();
    const { hash, worker, container } = await buildBundle();
    hashes = [hash, worker.hash, container.hash];
  }, ENGINE_MS);

  afterAll(() => world?.close(), UPDATE_MS);

  test.each([
    { name: "dev" as const, channels: {} },
    { name: "prod" as const, channels: MORE_CHANNELS },
  ])(
    "$name: is as it was, and knows no property that the official provider does not",
    async ({ name, channels }) => {
      const config = { ...(await exampleConfig(name)), ...SECRETS, ...channels };
      const subject = await world.bare({ name, config });
      const resources = await previewed(subject.stack);

      expect(await unknownProperties(resources)).toEqual([]);
      const bucket = resources.find(({ type }) => type === "cloudflare:index/r2Bucket:R2Bucket");
      expect(bucket?.inputs).toEqual({ accountId: expect.any(String), name: `${name}-steward` });
      await expect(golden(resources)).toMatchFileSnapshot(`golden/${name}.json`);
    },
    UPDATE_MS,
  );

  test.skipIf(!engine.ok)(
    "host: is as it was",
    async () => {
      const { "steward:hostPort": _port, ...config } = await exampleConfig("host");
      const subject = await createHostStack({ ...config, ...SECRETS });
      const resources = await previewed(subject.stack).finally(() => subject.close());

      const own = [
        [new URL(subject.url).port, "8080"],
        [subject.names.container, "steward"],
      ] as const;
      expect(resources.find(({ type }) => type === "docker:index/container:Container")?.inputs).toMatchObject(
        {
          readOnly: true,
          securityOpts: ["no-new-privileges"],
          ports: [{ internal: 8080, ip: "127.0.0.1" }],
        },
      );
      await expect(golden(resources, own)).toMatchFileSnapshot("golden/host.json");
    },
    ENGINE_MS,
  );

  test("a property that the official provider does not know is seen, also below others", async () => {
    const worker = { type: "cloudflare:index/worker:Worker", name: "worker" };
    const inputs = {
      accountId: "a",
      name: "n",
      nmae: "n",
      observability: { enabled: true, logs: { enbled: true } },
    };

    expect(await unknownProperties([{ ...worker, inputs }])).toEqual([
      "cloudflare:index/worker:Worker has no nmae",
      "cloudflare:index/worker:Worker has no observability.logs.enbled",
    ]);
  });

  /** The resources as a text, without what differs from machine to machine and with the code. */
  function golden(
    resources: readonly PreviewedResource[],
    replaced: readonly (readonly [string, string])[] = [],
  ): string {
    let text = JSON.stringify(resources, undefined, 2).replaceAll(world.stage.cloudflare.url, "<api>");
    for (const hash of hashes) text = text.replaceAll(hash, "<hash>");
    for (const [from, to] of replaced) text = text.replaceAll(from, to);
    return `${text
      .replaceAll(process.execPath, "<node>")
      .replaceAll(process.cwd(), "<checkout>")
      .replaceAll(/steward-base:[0-9a-f]+/g, "steward-base:<hash>")
      .replaceAll(/"contentBase64": "[^"]*"/g, '"contentBase64": "<code>"')}\n`;
  }
});
