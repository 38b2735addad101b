import * as cloudflare from "@pulumi/cloudflare";
import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { HostGateway, ServerlessGateway } from "../../../infra/gateway/index.ts";
import { ACCOUNT, startStage, TOKEN, type Stage } from "../../rehearsal/support.ts";
import { startAnyProvider, type AnyProvider } from "../../support/any-provider.ts";
import { freePort } from "../../support/ports.ts";
import { createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "../../support/stack.ts";
import { standInDocker } from "../../support/stand-in-docker.ts";

const MODELS = { anthropicApiKey: "sk-test-0123456789" };

/** A resource in the state. */
interface Stored {
  urn: string;
  type: string;
  custom: boolean;
  parent: string;
  provider?: string;
  protect?: boolean;
  retainOnDelete?: boolean;
  dependencies?: string[];
  inputs?: Record<string, unknown>;
}

/** Both components in one program, with every option that a component may be given. */
describe("the options of a gateway under the real engine", () => {
  let stage: Stage;
  let provider: AnyProvider;
  let restore: () => Promise<void>;
  let subject: TestStack;
  let port: number;
  let names = { serverless: "bot", host: "office" };
  let options: pulumi.ComponentResourceOptions = {};

  const program = () => {
    const group = new pulumi.ComponentResource("test:index:Group", "group");
    const before = new cloudflare.Zone("before", { account: { id: ACCOUNT }, name: "acme.dev" });
    const own = new cloudflare.Provider("acme", { apiToken: TOKEN, baseUrl: stage.cloudflare.url });
    const engine = new docker.Provider("engine", {});
    const common = {
      parent: group,
      dependsOn: before,
      providers: { cloudflare: own, docker: engine },
      ...options,
    };
    const serverless = new ServerlessGateway(
      names.serverless,
      {
        accountId: ACCOUNT,
        hostname: "bot.acme.invalid",
        workerName: "bot",
        bucketName: "bot-state",
        models: MODELS,
        image: "i:1",
      },
      { ...common, aliases: [{ name: "bot" }] },
    );
    const host = new HostGateway(
      names.host,
      { models: MODELS, port, address: "127.0.0.1", image: "i:1", containerName: "office" },
      { ...common, aliases: [{ name: "office" }] },
    );
    return Promise.resolve({ serverless: serverless.url, host: host.url });
  };

  const stored = async (): Promise<Stored[]> =>
    ((await subject.stack.exportStack()).deployment as unknown as { resources: Stored[] }).resources;

  beforeAll(async () => {
    stage = await startStage();
    provider = await startAnyProvider();
    restore = await standInDocker();
    port = await freePort();
    subject = await createTestStack({ program, config: {}, environment: provider.environment });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await restore?.();
    provider?.close();
    await stage?.close();
  }, UPDATE_MS);

  test(
    "parent, providers, protect, transforms, dependsOn and retainOnDelete reach what is below",
    async () => {
      const transform: pulumi.ResourceTransform = ({ type, props, opts }) =>
        type === "cloudflare:index/worker:Worker" ? { props: { ...props, logpush: true }, opts } : undefined;
      options = { protect: true, retainOnDelete: true, transforms: [transform] };
      const { outputs } = await subject.stack.up();
      expect(outputs).toMatchObject({
        serverless: { value: "https://bot.acme.invalid" },
        host: { value: `http://127.0.0.1:${port}` },
      });

      const resources = await stored();
      const below = resources.filter(({ urn }) => /\$steward:index:(?:Serverless|Host)Gateway\$/.test(urn));
      const customs = below.filter(({ custom }) => custom);
      expect(customs.length).toBeGreaterThan(15);
      expect(below.filter(({ urn }) => !urn.includes("::test:index:Group$"))).toEqual([]);
      expect(customs.filter(({ protect }) => protect !== true)).toEqual([]);
      expect(customs.filter(({ retainOnDelete }) => retainOnDelete !== true)).toEqual([]);
      const providers = (kind: string) =>
        customs.filter(({ type }) => type.startsWith(kind)).map((one) => one.provider?.split("::").at(-2));
      expect(new Set(providers("cloudflare:"))).toEqual(new Set(["acme"]));
      expect(new Set(providers("docker:"))).toEqual(new Set(["engine"]));
      expect(customs.find(({ type }) => type === "cloudflare:index/worker:Worker")?.inputs).toMatchObject({
        logpush: true,
      });
      // A resource is stored when it is there.
      const at = resources.findIndex(({ urn }) => urn.endsWith("::before"));
      expect(resources.findIndex(({ urn }) => urn.includes("Gateway"))).toBeGreaterThan(at);
    },
    UPDATE_MS,
  );

  test(
    "a container's name that somebody else has stops the preview",
    async () => {
      process.env["STAND_IN_CONTAINER"] = "office";
      onTestFinished(() => void delete process.env["STAND_IN_CONTAINER"]);
      const beside = await createTestStack({ program, config: {}, environment: provider.environment });
      onTestFinished(() => beside.close());
      const failure = await beside.stack.preview().then(() => "", String);
      expect(failure).toContain("The engine already has a container office, which this stack did not create");
      expect(failure).toContain("(host_name_taken)");
    },
    UPDATE_MS,
  );

  test(
    "a gateway that gets another name keeps all of its resources by one alias",
    async () => {
      names = { serverless: "support", host: "lab" };
      const { same = 0, ...changes } = (await subject.stack.preview()).changeSummary;
      // The default of the bucket's name, which the real provider drops.
      expect(changes).toEqual({ update: 1 });
      expect(same).toBeGreaterThan(30);
    },
    UPDATE_MS,
  );
});
