import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { program } from "../../stacks/program.ts";
import { startStage, type Stage } from "../rehearsal/support.ts";
import { startAnyProvider, type AnyProvider } from "../support/any-provider.ts";
import { everyResource } from "../support/every-resource.ts";
import { urnsOf, withoutGateway } from "../support/former-gateway.ts";
import { freePort } from "../support/ports.ts";
import { createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";
import { standInDocker } from "../support/stand-in-docker.ts";

describe("a stack that was deployed before there was a component", () => {
  let stage: Stage;
  let provider: AnyProvider;
  let restore: () => Promise<void>;
  const opened: TestStack[] = [];

  beforeAll(async () => {
    stage = await startStage();
    provider = await startAnyProvider();
    restore = await standInDocker();
  }, ENGINE_MS);

  afterAll(async () => {
    for (const one of opened) await one.close();
    await restore?.();
    provider?.close();
    await stage?.close();
  }, UPDATE_MS);

  test.each<[string, () => Promise<ConfigMap>]>([
    ["serverless", () => Promise.resolve(everyResource.serverless(stage.cloudflare.url))],
    ["host", async () => everyResource.host(await freePort())],
  ])(
    "keeps every resource of the archived %s stack: only the component is created",
    async (target, configOf) => {
      const config = await configOf();
      const subject = await createTestStack({ program, config, environment: provider.environment });
      opened.push(subject);
      const { stack } = subject;
      await stack.up();
      const exported = await stack.exportStack();
      const former = withoutGateway(exported.deployment);

      // The resources of a stack that the code before the component deployed with this configuration.
      const file = path.join(import.meta.dirname, "archive", `${target}.json`);
      const archived = JSON.parse(await readFile(file, "utf8")) as string[];
      expect(urnsOf(former).toSorted()).toEqual(archived);

      await stack.importStack({ ...exported, deployment: former });
      const { changeSummary } = await stack.preview();
      expect(changeSummary).toEqual({ create: 1, same: countWithoutProviders(archived) });
      await stack.up();
      const after = urnsOf((await stack.exportStack()).deployment);
      expect(after.toSorted()).toEqual(urnsOf(exported.deployment).toSorted());
      expect(Object.keys((await stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );
});

/** The engine counts no providers that it makes itself. */
function countWithoutProviders(urns: readonly string[]): number {
  return urns.filter((urn) => !/::pulumi:providers:[\w-]+::default/.test(urn)).length;
}
