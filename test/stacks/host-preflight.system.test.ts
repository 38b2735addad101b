import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { docker } from "../../infra/shell/docker.ts";
import { commandsFor } from "../../infra/shell/package.ts";
import { preflight } from "../../infra/host/preflight.ts";
import type { HostPlan } from "../../infra/host/preflight/engine.ts";
import { CONTAINER_USER, OLDEST_STATE_SCHEMA, STATE_SCHEMA } from "../../runtime/contract/names.ts";
import { stackShell, succeed } from "../journeys/typed.ts";
import { engine } from "../support/docker.ts";
import { createHostStack, type HostStack } from "../support/host-stack.ts";
import { freePort } from "../support/ports.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

const OURS = `${CONTAINER_USER}:${CONTAINER_USER}`;

describe.skipIf(!engine.ok)("the preflight of the host stack", { timeout: UPDATE_MS }, () => {
  const name = `steward-test-${randomUUID().slice(0, 8)}`;
  const names = { container: name, volume: `${name}-data` };
  let plan: HostPlan;
  let folder: string;
  let base: string;

  beforeAll(async () => {
    base = (await prepareBaseImage({ log: () => {} })).image;
  }, ENGINE_MS);

  afterAll(async () => void (await docker(["volume", "rm", "--force", names.volume])));

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "steward-host-data-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const port = { external: await freePort(), address: "127.0.0.1" };
    const limits = { memoryMiB: 512, cpus: 1, diskMiB: 1024 };
    plan = { commands: commandsFor("test"), names, environment: process.env, port, ...limits };
  });

  /** What it says of this plan with these changes. */
  function found(changes: Partial<HostPlan>): Promise<string> {
    return preflight({ ...plan, ...changes }).then(() => "", String);
  }

  /** A container of the base image that runs. */
  async function container(called: string, ...options: string[]): Promise<void> {
    const words = [`--name=${called}`, ...options, "--entrypoint=tail", base, "-f", "/dev/null"];
    await docker(["run", "--detach", ...words]);
    onTestFinished(async () => void (await docker(["rm", "--force", "--volumes", called])));
  }

  describe("in a preview", () => {
    let subject: HostStack;

    beforeAll(async () => {
      subject = await createHostStack();
    }, ENGINE_MS);

    afterAll(() => subject?.close(), UPDATE_MS);

    test("has nothing to say where nothing is wrong, and makes nothing", async () => {
      await subject.stack.setConfig("steward:hostDataDirectory", { value: "" });
      await expect(subject.stack.preview()).rejects.toThrow("stack_config_invalid");
      await subject.stack.removeConfig("steward:hostDataDirectory");
      await subject.stack.preview();

      const filter = ["--all", "--filter", `name=^${subject.names.container}$`];
      expect((await docker(["ps", ...filter, "--quiet"])).stdout).toBe("");
    });

    test("tells all problems at once, each with its code and fix", async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => void server.close());
      const { port } = server.address() as { port: number };
      await subject.stack.setAllConfig({
        "steward:hostPort": { value: String(port) },
        "steward:hostDataDirectory": { value: path.join(folder, "missing") },
        "steward:memoryMiB": { value: "1000000" },
        "steward:cpus": { value: "999" },
        "steward:diskMiB": { value: "1000000" },
      });
      const text = await subject.stack.preview().then(() => "", String);

      expect(text).toContain("(host_not_ready), 5 problems:");
      expect(text).toMatch(
        new RegExp(`port_in_use: Port ${port} on 127.0.0.1 is in use by \\w+ \\(process ${process.pid}\\)`),
      );
      expect(text).toContain("pulumi config set -s test steward:hostPort <port>");
      expect(text).toContain(`data_directory_unwritable: ${folder}/missing does not exist`);
      expect(text).toContain(`sudo install -d -m 700 -o ${CONTAINER_USER}`);
      expect(text).toContain("host_memory_short: The container may use 1000000 MiB");
      expect(text).toContain("host_cpus_short: The container may use 999 processors");
      expect(text).toContain("host_disk_short: The disk of");

      const values: Record<string, string> = {
        "<port>": String(await freePort()),
        "<MiB>": "512",
        "<number>": "1",
      };
      const asRoot = process.getuid?.() === 0 ? "" : "sudo -n ";
      const install = /fix: (sudo install .*)\.\n/.exec(text)?.[1] ?? "";
      const shell = await stackShell(subject, "preflight");
      await succeed(shell, install.replace("sudo ", asRoot));
      const lines = new Set(
        [...text.matchAll(/`(pulumi config set -s test [^`]+)`/g)].map(([, line = ""]) => line),
      );
      expect(lines.size).toBe(3);
      for (const line of lines)
        await succeed(
          shell,
          line.replace(/<.*>/, (name) => values[name] ?? name),
        );
      // Its fix has words alone.
      await subject.stack.setConfig("steward:diskMiB", { value: "1024" });
      await subject.stack.preview();
    });
  });

  test("names the container that holds the port, and asks about the port's address", async () => {
    const other = `${names.container}-other`;
    const { external } = plan.port;
    await container(other, `--publish=127.0.0.1:${external}:80`);

    expect(await found({})).toContain(`is in use by the container ${other}.`);
    expect(await found({})).toContain(`docker stop ${other}`);
    expect(await found({ port: { external, address: "127.0.0.2" } })).toBe("");
    expect(await found({ port: { external, address: "0.0.0.0" } })).toContain("port_in_use");
  });

  test("names the rights of a directory that the container's user cannot write, and takes one that it can", async () => {
    await chmod(folder, 0o700);
    const closed = await found({ directory: folder });
    await chown(folder, CONTAINER_USER, CONTAINER_USER);
    const open = await found({ directory: folder });

    expect(closed).toContain(
      `${folder} belongs to ${process.getuid?.()}:${process.getgid?.()} with rights 700`,
    );
    expect(closed).toContain(`sudo chown -R ${OURS} ${folder}`);
    expect(open).toBe("");
  });

  test("refuses data of a newer version by its file, and by the container that wrote it", async () => {
    await chown(folder, CONTAINER_USER, CONTAINER_USER);
    const header = Buffer.alloc(100);
    header.writeUInt32BE(STATE_SCHEMA + 1, 60);
    await writeFile(path.join(folder, "state.db"), header);
    const byFile = await found({ directory: folder });
    await container(
      names.container,
      `--label=steward.state-schema=${STATE_SCHEMA + 2}`,
      "--label=org.opencontainers.image.revision=abc",
    );
    const byContainer = await found({});

    expect(byFile).toContain(`data_newer: The data has schema ${STATE_SCHEMA + 1}`);
    expect(byContainer).toContain(`data_newer: The data has schema ${STATE_SCHEMA + 2}`);
    expect(byContainer).toContain("Deploy steward:abc again");
  });

  test("refuses data that is too old to migrate, with the version to deploy before", async () => {
    await container(names.container, `--label=steward.state-schema=${OLDEST_STATE_SCHEMA - 1}`);

    expect(await found({})).toMatch(/data_older: The data has schema 8, .* First deploy commit 449bf21/s);
  });

  test("looks at the version before where an update went back to it", async () => {
    const { external } = plan.port;
    const published = `--publish=127.0.0.1:${external}:80`;
    await container(`${names.container}-former`, published, `--label=steward.state-schema=${STATE_SCHEMA}`);
    const newer = `--label=steward.state-schema=${STATE_SCHEMA + 1}`;
    await docker(["create", `--name=${names.container}`, newer, published, base, "true"]);
    onTestFinished(async () => void (await docker(["rm", "--force", "--volumes", names.container])));

    expect(await found({})).toBe("");
  });

  test("refuses to begin with an empty directory beside the data in use", async () => {
    await container(names.container, `--volume=${names.volume}:/root/.steward`);
    await chown(folder, CONTAINER_USER, CONTAINER_USER);
    const beside = await found({ directory: folder });
    await mkdir(path.join(folder, "workspace"));
    const copied = await found({ directory: folder });

    expect(beside).toContain(`data_left_behind: The data is in ${names.volume}`);
    expect(copied).toBe("");
  });

  test("says which engine cannot be reached", async () => {
    const text = await found({
      environment: { ...process.env, DOCKER_HOST: `unix://${folder}/none.sock` },
    });

    expect(text).toContain(
      `docker_unavailable: The Docker engine cannot be reached (unix://${folder}/none.sock)`,
    );
    expect(text).toContain("systemctl start docker");
  });
});
