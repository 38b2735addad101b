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

/** Returns what the program registers. It asks the Docker engine for its preflight and the base image. */
async function shapeWith(more: Record<string, { value: string }>) {
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
      ...more,
    },
  });
  const replaced = [
    [port, "8080"],
    [NAMES.container, "steward"],
  ] as const;
  const container = resources.find(({ type }) => type === "docker:index/container:Container");
  return { container: container?.inputs, text: await golden(resources, replaced) };
}

test("the host stack is as in its golden file, without privileges and on loopback", async () => {
  const { container, text } = await shapeWith({});
  expect(container).toMatchObject({
    readOnly: true,
    securityOpts: ["no-new-privileges"],
    ports: [{ internal: 8080, ip: "127.0.0.1" }],
  });
  await expect(text).toMatchFileSnapshot("golden/host.json");
}, 120_000);

test("a gateway for each chat takes root with four of its rights, and nothing else", async () => {
  const chat = { "steward:tenancy": { value: "chat" }, "steward:maxSandboxes": { value: "4" } };
  const { container, text } = await shapeWith(chat);
  expect(container).toMatchObject({
    user: "root",
    readOnly: true,
    securityOpts: ["no-new-privileges"],
    capabilities: { drops: ["ALL"], adds: ["CAP_CHOWN", "CAP_KILL", "CAP_SETGID", "CAP_SETUID"] },
  });
  await expect(text).toMatchFileSnapshot("golden/host-chat.json");
  const { text: shared } = await shapeWith({ "steward:tenancy": { value: "shared" } });
  await expect(shared).toMatchFileSnapshot("golden/host.json");
}, 120_000);
