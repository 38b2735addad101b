import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker } from "../../infra/build/docker.ts";
import { refuseForeignHostStack } from "../../stacks/rehearsal/host-guard.ts";
import { engine } from "../support/docker.ts";
import { rehearse } from "../support/rehearse.ts";
import { stackProgram } from "../support/program.ts";
import { createTestStack, ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../support/stack.ts";
import { freePort } from "../support/ports.ts";

const ADMIN_TOKEN = "the-admin-token-that-nobody-may-read";

describe.skipIf(!engine.ok)(
  `the host stack on Docker ${engine.ok ? engine.version : `(${engine.reason})`}`,
  () => {
    let subject: TestStack;
    let port: number;

    beforeAll(async () => {
      await refuseForeignHostStack();
      port = await freePort();
      subject = await createTestStack({
        program: stackProgram(),
        docker: true,
        providers: ["command"],
        config: {
          "steward:target": { value: "host" },
          "steward:hostPort": { value: String(port) },
          "steward:hostAddress": { value: "127.0.0.1" },
          "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
          "steward:adminToken": { value: ADMIN_TOKEN, secret: true },
        },
      });
    }, ENGINE_MS);

    afterAll(async () => {
      await subject?.stack.destroy();
      await subject?.close();
    }, UPDATE_MS);

    test(
      "comes up, and ends only after the service has answered on its port",
      async () => {
        const update = await subject.stack.up();

        expect(update.outputs["url"]?.value).toBe(`http://127.0.0.1:${port}`);
        expect(update.outputs["readiness"]?.value).toContain("ok   POST /slack/events");
        expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
      },
      ENGINE_MS,
    );

    test("runs the container with no more rights than it needs", async () => {
      const { stdout } = await docker(["inspect", "steward"]);
      const [container] = JSON.parse(stdout);

      expect(container.Config.User).not.toMatch(/^(root|0)?$/);
      expect(container.HostConfig).toMatchObject({
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        Privileged: false,
        Memory: 512 * 1024 * 1024,
        RestartPolicy: { Name: "unless-stopped" },
        PortBindings: { "8080/tcp": [{ HostIp: "127.0.0.1", HostPort: String(port) }] },
      });
      expect(container.Mounts).toMatchObject([{ Type: "volume", Name: "steward-data", RW: true }]);
    });

    test(
      "becomes healthy by its own check",
      async () => {
        const health = async () => {
          const { stdout } = await docker(["inspect", "--format", "{{.State.Health.Status}}", "steward"]);
          return stdout.trim();
        };

        await expect.poll(health, { timeout: UPDATE_MS, interval: 1_000 }).toBe("healthy");
      },
      UPDATE_MS,
    );

    test("keeps the admin token out of the plain state", async () => {
      expect((await stateText(subject)).includes(ADMIN_TOKEN)).toBe(false);
    });

    test(
      "changes nothing when nothing has changed, also after a refresh",
      async () => {
        await subject.stack.refresh();

        expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
      },
      UPDATE_MS,
    );

    test(
      "replaces the container alone when a variable changes, and keeps the data",
      async () => {
        await docker(["exec", "steward", "touch", "/root/.steward/kept"]);
        await subject.stack.setConfig("steward:logLevel", { value: "debug" });
        const update = await subject.stack.up();

        expect(update.summary.resourceChanges).toMatchObject({ replace: 2 });
        const { stdout } = await docker(["exec", "steward", "ls", "/root/.steward"]);
        expect(stdout.split("\n")).toContain("kept");
      },
      UPDATE_MS,
    );

    test(
      "takes everything down again",
      async () => {
        await subject.stack.destroy();

        const { stdout: containers } = await docker(["ps", "--all", "--format", "{{.Names}}"]);
        const { stdout: volumes } = await docker(["volume", "ls", "--format", "{{.Name}}"]);
        expect(containers.split("\n")).not.toContain("steward");
        expect(volumes.split("\n")).not.toContain("steward-data");
      },
      UPDATE_MS,
    );
  },
);

// In this file too, since both use the one name on the one engine.
describe.skipIf(!engine.ok)("npm start -- host", () => {
  test("deploys to this machine's Docker engine, brings a message back, and leaves nothing running", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
    const { code, report, stderr } = await rehearse("host", "--once", "--json", "--dir", dir);
    expect(report, stderr).toMatchObject({ ok: true });
    expect(code).toBe(0);
    expect(report.reply).toContain("The stand-in model read");
    expect(report.resources).toMatchObject({
      "docker:index/container:Container": 1,
      "docker:index/remoteImage:RemoteImage": 1,
      "docker:index/volume:Volume": 1,
    });
    const { stdout } = await docker(["ps", "--all", "--filter", "name=^steward$", "--quiet"]);
    expect(stdout).toBe("");
    await rm(dir, { recursive: true });
  }, 900_000);
});
