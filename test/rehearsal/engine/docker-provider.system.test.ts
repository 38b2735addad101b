import { engine as running } from "../../support/docker.ts";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as docker from "@pulumi/docker";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prepareBaseImage } from "../../../rehearsal/base-image.ts";
import { writeContext } from "../../../infra/bundle/programs.ts";
import { docker as dockerCommand } from "../../../infra/shell/docker.ts";
import { APP_DOCKERFILE } from "../../../infra/bundle/image.ts";
import { createTestStack, ENGINE_MS, type TestStack, UPDATE_MS } from "../../support/stack.ts";
import { freePort } from "../../support/ports.ts";

const NAME = `steward-test-${randomUUID().slice(0, 8)}`;

const log = (line: string) => void process.stderr.write(`${line}\n`);

const APP = `
import { createServer } from "node:http";
import { existsSync, writeFileSync } from "node:fs";
createServer((request, response) => {
  const kept = existsSync("/root/.steward/probe");
  writeFileSync("/root/.steward/probe", "");
  response.end(JSON.stringify({ given: process.env.GIVEN, kept }));
}).listen(8080);
`;

describe.skipIf(!running.ok)("the docker provider", () => {
  let folder: string;
  let host: TestStack;
  let port: number;
  let given = "first";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "steward-docker-"));
    await writeContext(
      new Map([
        ["package.json", Buffer.from('{"type":"module"}')],
        ["supervisor/main.js", Buffer.from(APP)],
        ["host/warm.js", Buffer.from("")],
      ]),
      folder,
    );
    port = await freePort();
    const base = await prepareBaseImage({ log });

    const program = () => {
      const image = new docker.RemoteImage("image", {
        name: `steward:${NAME}`,
        build: { context: folder, dockerfile: APP_DOCKERFILE, buildArgs: { BASE: base.image } },
        forceRemove: true,
      });
      const volume = new docker.Volume("data", { name: NAME });
      const container = new docker.Container("container", {
        name: NAME,
        image: image.imageId,
        envs: [`GIVEN=${given}`],
        readOnly: true,
        ports: [{ internal: 8080, external: port, ip: "127.0.0.1" }],
        volumes: [{ volumeName: volume.name, containerPath: "/root/.steward" }],
        destroyGraceSeconds: 1,
      });
      return Promise.resolve({ container: container.id });
    };
    host = await createTestStack({ program, config: {}, docker: true });
  }, ENGINE_MS);

  afterAll(async () => {
    await host?.stack.destroy();
    await host?.close();
    await rm(folder, { recursive: true, force: true });
  }, UPDATE_MS);

  test(
    "brings up an image, a volume and a container whose port answers",
    async () => {
      const update = await host.stack.up();

      expect(update.summary.resourceChanges).toEqual({ create: 4 });
      expect(await answer(port)).toEqual({ given: "first", kept: false });
    },
    UPDATE_MS,
  );

  test(
    "finds nothing to change in the same program",
    async () => {
      const preview = await host.stack.preview();

      expect(preview.changeSummary).toEqual({ same: 4 });
    },
    UPDATE_MS,
  );

  test(
    "replaces the container for another environment and keeps the volume",
    async () => {
      given = "second";
      const update = await host.stack.up();

      expect(update.summary.resourceChanges).toMatchObject({ replace: 1, same: 3 });
      expect(await answer(port)).toEqual({ given: "second", kept: true });
    },
    UPDATE_MS,
  );

  test(
    "removes everything",
    async () => {
      await host.stack.destroy();

      const containers = await dockerCommand(["ps", "--all", "--quiet", "--filter", `name=${NAME}`]);
      const volumes = await dockerCommand(["volume", "ls", "--quiet", "--filter", `name=${NAME}`]);
      const images = await dockerCommand(["images", "--quiet", `steward:${NAME}`]);
      expect([containers, volumes, images].map(({ stdout }) => stdout)).toEqual(["", "", ""]);
    },
    UPDATE_MS,
  );
});

/** What the container says once it listens. */
async function answer(port: number): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await (await fetch(`http://127.0.0.1:${port}/`)).json();
    } catch (error) {
      if (attempt === 500) throw error;
      await sleep(100);
    }
  }
}
