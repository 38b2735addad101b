import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ensureBaseImage } from "../../infra/build/base/index.ts";
import { docker } from "../../infra/build/docker.ts";
import { CONTAINER_USER, STATE_SCHEMA } from "../../runtime/contract/names.ts";
import { engine } from "../support/docker.ts";
import { createHostStack, type HostStack } from "../support/host-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

const OURS = `${CONTAINER_USER}:${CONTAINER_USER}`;

describe.skipIf(!engine.ok)("the preflight of the host stack", { timeout: UPDATE_MS }, () => {
  let subject: HostStack;
  let folder: string;
  let base: string;

  beforeAll(async () => {
    base = (await ensureBaseImage({ log: () => {} })).image;
    subject = await createHostStack();
  }, ENGINE_MS);

  afterAll(() => subject?.close(), UPDATE_MS);

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "steward-host-data-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  });

  /** What a preview with these keys says; they are taken back. */
  async function previewed(config: Record<string, string>): Promise<string> {
    const before = await subject.stack.getAllConfig();
    const given = Object.entries(config).map(([key, value]) => [`steward:${key}`, { value }] as const);
    await subject.stack.setAllConfig(Object.fromEntries(given));
    try {
      await subject.stack.preview();
      return "";
    } catch (error) {
      return String(error);
    } finally {
      for (const [key] of given) await subject.stack.removeConfig(key);
      await subject.stack.setAllConfig(before);
    }
  }

  /** A container of the base image, made but not started unless it is to hold a port. */
  async function container(name: string, ...options: string[]): Promise<void> {
    await docker([
      "run",
      "--detach",
      `--name=${name}`,
      ...options,
      "--entrypoint=tail",
      base,
      "-f",
      "/dev/null",
    ]);
    onTestFinished(async () => void (await docker(["rm", "--force", "--volumes", name])));
  }

  test("has nothing to say where nothing is wrong, and makes nothing", async () => {
    expect(await previewed({ hostDataDirectory: "" })).toContain("stack_config_invalid");
    await subject.stack.preview();

    const { stdout } = await docker([
      "ps",
      "--all",
      "--filter",
      `name=^${subject.names.container}$`,
      "--quiet",
    ]);
    expect(stdout).toBe("");
  });

  test("tells all problems at once, each with its code and fix", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const text = await previewed({
      hostPort: String(port),
      hostDataDirectory: path.join(folder, "missing"),
      memoryMiB: "1000000",
      diskMiB: "1000000",
    });

    expect(text).toContain("(host_not_ready), 4 problems:");
    expect(text).toMatch(
      new RegExp(`port_in_use: Port ${port} on 127.0.0.1 is taken by \\w+ \\(process ${process.pid}\\)`),
    );
    expect(text).toContain("pulumi config set steward:hostPort <port>");
    expect(text).toContain(`data_directory_unwritable: ${folder}/missing does not exist`);
    expect(text).toContain(`sudo install -d -m 700 -o ${CONTAINER_USER}`);
    expect(text).toContain("host_memory_short: The container may use 1000000 MiB");
    expect(text).toContain("host_disk_short: The disk of");
  });

  test("names the container that holds the port, and asks about the port's address", async () => {
    const name = `${subject.names.container}-other`;
    const { port } = new URL(subject.url);
    await container(name, `--publish=127.0.0.1:${port}:80`);

    expect(await previewed({})).toContain(`is taken by the container ${name}.`);
    expect(await previewed({})).toContain(`docker stop ${name}`);
    expect(await previewed({ hostAddress: "127.0.0.2" })).toBe("");
  });

  test("names the rights of a directory that the container's user cannot write, and takes one that it can", async () => {
    await chmod(folder, 0o700);
    const closed = await previewed({ hostDataDirectory: folder });
    await chown(folder, CONTAINER_USER, CONTAINER_USER);
    const open = await previewed({ hostDataDirectory: folder });

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
    const byFile = await previewed({ hostDataDirectory: folder });
    await container(
      subject.names.container,
      `--label=steward.state-schema=${STATE_SCHEMA + 2}`,
      "--label=org.opencontainers.image.revision=abc",
    );
    const byContainer = await previewed({});

    expect(byFile).toContain(`data_newer: The data has schema ${STATE_SCHEMA + 1}`);
    expect(byContainer).toContain(`data_newer: The data has schema ${STATE_SCHEMA + 2}`);
    expect(byContainer).toContain("Deploy steward:abc again");
  });

  test("refuses to begin with an empty directory beside the data in use", async () => {
    await container(subject.names.container, `--volume=${subject.names.volume}:/root/.steward`);
    await chown(folder, CONTAINER_USER, CONTAINER_USER);
    const beside = await previewed({ hostDataDirectory: folder });
    await mkdir(path.join(folder, "workspace"));
    const copied = await previewed({ hostDataDirectory: folder });

    expect(beside).toContain(`data_left_behind: The data lies in ${subject.names.volume}`);
    expect(copied).toBe("");
  });

  test("says which engine cannot be reached", async () => {
    const text = await previewed({ docker: `unix://${folder}/none.sock` });

    expect(text).toContain(
      `docker_unavailable: The Docker engine cannot be reached (unix://${folder}/none.sock)`,
    );
    expect(text).toContain("systemctl start docker");
  });
});
