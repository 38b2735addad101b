import { chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { docker } from "../../infra/shell/docker.ts";
import { CONTAINER_USER } from "../../runtime/contract/names.ts";
import { changedImage, GREEDY } from "../support/changed-image.ts";
import { engine } from "../support/docker.ts";
import { ADMIN_TOKEN, createTalkingHostStack, type TalkingHostStack } from "../support/host-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

describe.skipIf(!engine.ok)("a host stack in trouble", { timeout: ENGINE_MS }, () => {
  let subject: TalkingHostStack;

  async function stackWith(config: Parameters<typeof createTalkingHostStack>[0] = {}) {
    subject = await createTalkingHostStack(config);
    return subject;
  }

  /** What an update says where it fails; empty where it does not. */
  function updated(): Promise<string> {
    return subject.stack.up().then(
      () => "",
      (error: unknown) => String(error),
    );
  }

  /** Writes into the stack's volume before its container is there. */
  async function inVolume(command: string): Promise<void> {
    const { image } = await prepareBaseImage({ log: () => {} });
    // As the stack itself makes it: another's volume is refused.
    await docker(["volume", "create", "--label=steward.stack=steward/test", subject.names.volume]);
    const mount = `--volume=${subject.names.volume}:/data`;
    await docker(["run", "--rm", "--user=0", mount, "--entrypoint=sh", image, "-c", command]);
  }

  afterEach(() => subject?.close(), UPDATE_MS);

  test("keeps its data in a directory of the host, which stays when the stack goes", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "steward-host-data-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    await chown(directory, CONTAINER_USER, CONTAINER_USER);
    const { stack, say } = await stackWith({ "steward:hostDataDirectory": { value: directory } });
    await stack.up();
    expect(await say("into a directory of the host")).toBe(200);
    expect(Object.keys((await stack.preview()).changeSummary)).toEqual(["same"]);
    await stack.destroy();

    expect(await readdir(directory)).toEqual(expect.arrayContaining(["state.db", "steward.json"]));
  });

  test("keeps a protected volume when the stack goes, and goes on with it", async () => {
    const { stack, names, say } = await stackWith({ "steward:protectState": { value: "true" } });
    await stack.up();
    expect(await say("kept in the volume")).toBe(200);
    await expect(stack.destroy()).rejects.toThrow("protected");
    await stack.destroy({ excludeProtected: true });
    const { stdout } = await docker(["volume", "ls", "--quiet"]);
    expect(stdout.split("\n")).toContain(names.volume);
    await stack.up();

    const sessions = await docker(["exec", names.container, "steward", "sessions", "list", "--json"]);
    expect(JSON.parse(sessions.stdout).sessions).toHaveLength(1);
  });

  test("does not begin on a volume that its user cannot write", async () => {
    await stackWith();
    await inVolume("touch /data/state.db && chmod 700 /data");
    const said = await updated();

    expect(said).toContain("data_directory_unwritable: ");
    expect(said).toContain(`sudo chown -R ${CONTAINER_USER}:${CONTAINER_USER} `);
  });

  test("tells what is wrong with a config file, and comes up once that is mended", async () => {
    const { stack, url, names } = await stackWith();
    const owner = `chown -R ${CONTAINER_USER}:${CONTAINER_USER} /data`;
    await inVolume(`echo '{"agent": {"nmae": 1}}' > /data/steward.json && ${owner}`);
    const said = await updated();
    const home = await fetch(url, { headers: { accept: "application/json" } });

    expect(said).toContain("the gateway is crash-looping (config_invalid): Invalid config at");
    expect(said).toContain("There is no previous version to roll back to");
    expect(await home.json()).toMatchObject({ status: 502, code: "config_invalid" });
    const [{ Config }] = JSON.parse((await docker(["inspect", names.container])).stdout);
    const [, ...check] = Config.Healthcheck.Test as string[];
    await expect(docker(["exec", names.container, ...check])).rejects.toThrow("exit code 1");
    await inVolume("rm /data/steward.json");
    await stack.up();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  test("tells that its memory was too little", async () => {
    const image = await changedImage(`steward-test-greedy:${process.pid}`, {
      "host/main.js": GREEDY,
    });
    onTestFinished(async () => void (await docker(["rmi", "--force", image])));
    await stackWith({ "steward:image": { value: image }, "steward:memoryMiB": { value: "128" } });

    expect(await updated()).toContain("ran out of memory (OOM-killed; raise steward:memoryMiB)");
  });

  test("refuses a key that the model's provider does not take, before anything is made", async () => {
    const key = "sk-ant-a-key-that-is-wrong-0123";
    await stackWith({ "steward:anthropicApiKey": { value: key, secret: true } });
    const failure = await updated();

    expect(failure).toContain("Anthropic refuses the value of steward:anthropicApiKey (secret_refused)");
    expect(failure).not.toContain(key);
    const { stdout } = await docker(["ps", "--all", "--format={{.Names}}"]);
    expect(stdout).not.toContain(subject.names.container);
  });

  test("shows a key that the model's provider refuses later, where the operator looks and in the chat", async () => {
    const { stack, url, send, replied, revokeModelKey } = await stackWith();
    await stack.up();
    revokeModelKey();
    const status = async (): Promise<string> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      return (await fetch(`${url}/debug/cli?cmd=status`, { headers })).text();
    };
    await send("are you there?");
    await replied("key");

    await expect
      .poll(status, { timeout: UPDATE_MS })
      .toContain("anthropic/claude-sonnet-4-5: invalid x-api-key");
    expect(await status()).not.toContain("sk-ant");
  });
});
