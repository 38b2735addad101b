import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker } from "../../../infra/shell/docker.ts";
import { HOST_NAMES } from "../../../runtime/contract/names.ts";
import { changedImage } from "../../support/changed-image.ts";
import { engine } from "../../support/docker.ts";
import { holdHostNames } from "../../support/host-names.ts";
import { leastHostConfig } from "../../support/host-stack.ts";
import { program } from "../../../stacks/program.ts";
import { stackCommand } from "../../support/stack-command.ts";
import { createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "../../support/stack.ts";

/** Ends at once, and again whenever it is started. */
const EXITS = { "host/main.js": "process.exit(3);" };

const release = await holdHostNames();
afterAll(release);

// The commands deploy under the names that a host has on its engine.
const { stdout: taken } = engine.ok
  ? await docker(["ps", "--all", "--quiet", "--filter", `name=^${HOST_NAMES.container}$`])
  : { stdout: "" };
// Skipped tests run no `afterAll`.
if (!engine.ok || taken !== "") release();
const reason = engine.ok ? `a container ${HOST_NAMES.container} is there already` : engine.reason;

describe.skipIf(!engine.ok || taken !== "")(
  `a rollout of a host (skipped only where ${reason})`,
  { timeout: 2 * UPDATE_MS },
  () => {
    const image = `steward-test-${randomUUID().slice(0, 8)}:exits`;
    let subject: TestStack;
    let url: string;

    beforeAll(async () => {
      const least = await leastHostConfig();
      url = least.url;
      subject = await createTestStack({
        program,
        docker: true,
        config: least.config,
      });
    }, ENGINE_MS);

    afterAll(async () => {
      await docker(["rm", "--force", HOST_NAMES.container, `${HOST_NAMES.container}-former`]);
      await subject?.close();
      await docker(["volume", "rm", "--force", HOST_NAMES.volume]);
      await docker(["rmi", "--force", image]);
    }, UPDATE_MS);

    const rollout = (...words: string[]) =>
      stackCommand(subject, "rollout.ts", "test", "--yes", "--json", ...words);
    const running = async () => {
      const filter = ["--filter", `name=^${HOST_NAMES.container}(-former)?$`, "--format", "{{.Names}}"];
      return (await docker(["ps", ...filter])).stdout.trim().split("\n");
    };

    test("deploys, and the stack's signature makes and checks backups", async () => {
      const first = await rollout();
      expect(first.code, first.said).toBe(0);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const backup = await stackCommand(subject, "backup.ts", "test", "--create", "--verify", "--json");
      expect(backup.report, backup.said).toMatchObject({ ok: true, problems: [] });
    });

    test("ends with 4 where the new version's process ends, and the former one answers", async () => {
      await subject.stack.setConfig("steward:image", { value: await changedImage(image, EXITS) });
      const failed = await rollout();
      expect(failed.report, failed.said).toMatchObject({
        exit: 4,
        back: [`The previous version answers at ${url}.`],
      });
      expect(failed.code).toBe(4);
      expect(await running()).toEqual([`${HOST_NAMES.container}-former`]);
    });
  },
);
