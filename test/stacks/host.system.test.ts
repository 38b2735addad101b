import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { docker } from "../../infra/shell/docker.ts";
import { STATE_SCHEMA, VERSION } from "../../runtime/contract/names.ts";
import { engine } from "../support/docker.ts";
import { holdHostNames } from "../support/host-names.ts";
import { rehearse } from "../support/rehearse.ts";
import { ADMIN_TOKEN, createHostStack, type HostStack } from "../support/host-stack.ts";
import { ENGINE_MS, stateText, UPDATE_MS } from "../support/stack.ts";

describe.skipIf(!engine.ok)(
  `the host stack on Docker ${engine.ok ? engine.version : `(${engine.reason})`}`,
  () => {
    let subject: HostStack;

    beforeAll(async () => {
      subject = await createHostStack({ "steward:logFiles": { value: "2" } });
    }, ENGINE_MS);

    afterAll(() => subject?.close(), UPDATE_MS);

    test(
      "comes up, and ends only after the service has answered on its port",
      async () => {
        const update = await subject.stack.up();

        expect(update.outputs["url"]?.value).toBe(subject.url);
        expect(update.outputs["readiness"]?.value).toContain("ok   POST /slack/events");
        expect(update.outputs["readiness"]?.value).toContain("with the secrets that were deployed");
        expect((await fetch(`${subject.url}/healthz`)).status).toBe(200);
      },
      ENGINE_MS,
    );

    test("runs the container with no more rights than it needs", async () => {
      const { stdout } = await docker(["inspect", subject.names.container]);
      const [container] = JSON.parse(stdout);

      expect(container.Config.User).not.toMatch(/^(root|0)?$/);
      expect(container.HostConfig).toMatchObject({
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        Privileged: false,
        Memory: 512 * 1024 * 1024,
        Ulimits: [{ Name: "nproc", Soft: 512, Hard: 512 }],
        RestartPolicy: { Name: "unless-stopped" },
        LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "2" } },
        PortBindings: { "8080/tcp": [{ HostIp: "127.0.0.1", HostPort: new URL(subject.url).port }] },
      });
      expect(container.Config.StopTimeout).toBe(10);
      expect(container.Mounts).toMatchObject([{ Type: "volume", Name: subject.names.volume, RW: true }]);
    });

    test("says in its labels what it is, and which data it writes", async () => {
      const { stdout } = await docker(["inspect", subject.names.container]);
      const [{ Config }] = JSON.parse(stdout);
      const { container } = await buildBundle();

      expect(Config.Labels).toMatchObject({
        "org.opencontainers.image.title": "steward",
        "org.opencontainers.image.version": VERSION,
        "org.opencontainers.image.revision": container.hash,
        "steward.state-schema": String(STATE_SCHEMA),
      });
    });

    test(
      "becomes healthy by its own check",
      async () => {
        const health = async () => {
          const { stdout } = await docker([
            "inspect",
            "--format",
            "{{.State.Health.Status}}",
            subject.names.container,
          ]);
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
      "replaces the container, and what is done before and after it, when a variable changes, and keeps the data",
      async () => {
        await docker(["exec", subject.names.container, "touch", "/root/.steward/kept"]);
        await subject.stack.setConfig("steward:logLevel", { value: "debug" });
        const update = await subject.stack.up();

        expect(update.summary.resourceChanges).toMatchObject({ replace: 2, update: 1 });
        const { stdout } = await docker(["exec", subject.names.container, "ls", "/root/.steward"]);
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
        expect(containers.split("\n")).not.toContain(subject.names.container);
        expect(volumes.split("\n")).not.toContain(subject.names.volume);
      },
      UPDATE_MS,
    );
  },
);

describe.skipIf(!engine.ok)("npm start -- host", () => {
  test("deploys to this machine's Docker engine, brings a message back, and leaves nothing running", async () => {
    onTestFinished(await holdHostNames());
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
    // Another file may hold the names for ten minutes.
  }, 1_800_000);
});
