import { expect, onTestFinished, test } from "vitest";
import { loadConfig, type HostConfig } from "../../stacks/config.ts";
import { stackSource } from "../../stacks/config/source.ts";
import { host } from "../../stacks/host.ts";
import { exampleConfig } from "../support/example-stack.ts";
import { golden } from "../support/golden.ts";
import { freePort } from "../support/ports.ts";
import { registered } from "../support/registered.ts";
import { standInDocker } from "../support/stand-in-docker.ts";

const NAMES = { container: "steward-shape", volume: "steward-shape-data" };

/** The program asks the Docker engine for its preflight and the base image; what it registers, Pulumi's mocks tell. */
test("the host stack is as in its golden file, without privileges and on loopback", async () => {
  onTestFinished(await standInDocker());
  const port = String(await freePort());
  const resources = await registered(() => host(loadConfig(stackSource()) as HostConfig, NAMES), {
    config: {
      ...(await exampleConfig("host")),
      "steward:hostPort": { value: port },
      "steward:hostAddress": { value: "127.0.0.1" },
      "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
      "steward:slackBotToken": { value: "xoxb-test-0123456789", secret: true },
      "steward:slackSigningSecret": { value: "the-signing-secret-0123", secret: true },
      "steward:adminToken": { value: "the-admin-token-that-nobody-may-read", secret: true },
    },
  });

  expect(resources.find(({ type }) => type === "docker:index/container:Container")?.inputs).toMatchObject({
    readOnly: true,
    securityOpts: ["no-new-privileges"],
    ports: [{ internal: 8080, ip: "127.0.0.1" }],
  });
  const replaced = [
    [port, "8080"],
    [NAMES.container, "steward"],
  ] as const;
  await expect(await golden(resources, replaced)).toMatchFileSnapshot("golden/host.json");
}, 120_000);
