import { delimiter } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker, imageId } from "../../infra/shell/docker.ts";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { engine as local } from "../support/docker.ts";
import { startOwnEngine, type OwnEngine } from "../support/engine.ts";
import { createTalkingHostStack, type TalkingHostStack } from "../support/host-stack.ts";
import { answersState } from "../support/ready.ts";
import { sshd, startSshServer, type SshServer } from "../support/ssh.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

describe.skipIf(!local.ok || !sshd)("the host stack on an engine by SSH", { timeout: 2 * UPDATE_MS }, () => {
  const path = process.env["PATH"] ?? "";
  let engine: OwnEngine;
  let ssh: SshServer;
  let subject: TalkingHostStack;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    engine = await startOwnEngine();
    ssh = await startSshServer({ DOCKER_HOST: engine.address });
    env = { ...process.env, DOCKER_HOST: engine.address };
    // As a registry that the host reaches would bring it.
    await prepareBaseImage({ log: () => undefined, env });
    // Docker's command, its provider and the update all run what `ssh` is on their PATH.
    process.env["PATH"] = `${ssh.bin}${delimiter}${path}`;
    subject = await createTalkingHostStack({ "steward:docker": { value: ssh.url } }, engine.hostname);
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    process.env["PATH"] = path;
    await ssh?.close();
    await engine?.close();
  }, UPDATE_MS);

  const running = async (): Promise<string[]> => {
    const { stdout } = await docker(["ps", "--format", "{{.Names}}"], { env });
    return stdout.trim().split("\n");
  };

  test(
    "builds its image there without a registry, and brings a message back",
    { timeout: ENGINE_MS },
    async () => {
      const { container } = await buildBundle();
      expect(await imageId(`steward:${container.hash}`, env)).toBeUndefined();
      const { outputs } = await subject.stack.up();

      expect(outputs["readiness"]?.value).toContain("ok   POST /slack/events");
      expect(await imageId(`steward:${container.hash}`, env)).toBe(outputs["image"]?.value);
      expect(await running()).toEqual([subject.names.container]);
      expect(await subject.say("over SSH")).toBe(200);
    },
  );

  test("changes nothing when nothing has changed", async () => {
    expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
  });

  test("updates there, with the data", async () => {
    await subject.stack.setConfig("steward:logLevel", { value: "debug" });
    await subject.stack.up();
    const { stdout } = await docker(
      ["exec", subject.names.container, "steward", "sessions", "list", "--json"],
      { env },
    );

    expect(await running()).toEqual([subject.names.container]);
    expect(JSON.parse(stdout).sessions).toHaveLength(1);
  });

  test("comes back by itself after the host's reboot, and answers what was under way", async () => {
    subject.modelTakes(60_000);
    const texts = Array.from({ length: 8 }, (_, index) => `before the reboot ${index}`);
    expect(await Promise.all(texts.map((text) => subject.send(text)))).toEqual(texts.map(() => 200));
    await engine.reboot();
    subject.modelTakes(0);

    await answersState(subject.url, "ready");
    for (const text of texts) await subject.replied(text);
    expect(await subject.say("after the reboot")).toBe(200);
  });

  test("says how ssh has to reach an engine that it does not reach", async () => {
    await subject.stack.setConfig("steward:docker", { value: "ssh://nobody@127.0.0.1:1" });
    const said = await subject.stack.preview().then(() => "", String);
    await subject.stack.setConfig("steward:docker", { value: ssh.url });

    expect(said).toContain(
      "docker_unavailable: The Docker engine cannot be reached (ssh://nobody@127.0.0.1:1)",
    );
    expect(said).toContain("ssh <user>@<host> docker version");
  });

  test("takes everything down again", async () => {
    await subject.stack.destroy();

    expect(await running()).toEqual([""]);
    expect((await docker(["volume", "ls", "--quiet"], { env })).stdout).toBe("");
  });
});
