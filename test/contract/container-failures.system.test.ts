import { describe, expect, onTestFinished, test } from "vitest";
import { docker } from "../../infra/shell/docker.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { DATA_DIRECTORY } from "../../runtime/contract/names.ts";
import { changedImage, GREEDY } from "../support/changed-image.ts";
import { engine } from "../support/docker.ts";
import { answersState } from "../support/ready.ts";
import { startContainer } from "../support/targets/container.ts";
import { DEPRECATED } from "../support/targets/target.ts";

const KEY = "0f".repeat(32);

describe.skipIf(!engine.ok)("the host's container that cannot work", { timeout: 240_000 }, () => {
  async function started(options: Parameters<typeof startContainer>[0]) {
    const container = await startContainer(options);
    onTestFinished(container.stop);
    return container;
  }

  /** What an update waits for. Asked once: what it finds is not to change any more. */
  function probe({ url, name }: { url: string; name: string }) {
    const env = { ...process.env, PROBE_URL: url, PROBE_CONTAINER: name, PROBE_TIMEOUT_MS: "1000" };
    return runProcess(process.execPath, ["infra/readiness/probe.ts"], { env, input: KEY });
  }

  async function home(url: string): Promise<Record<string, unknown>> {
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    return (await answer.json()) as Record<string, unknown>;
  }

  test("tells where an update waits for it that the kernel has killed all of it", async () => {
    const name = `steward-test-greedy-suite:${process.pid}`;
    // Asks for more and more: where a program merely does not fit, the kernel may page it in and out for ever.
    const image = await changedImage(name, { "host/main.js": GREEDY });
    onTestFinished(async () => void (await docker(["rmi", "--force", image])));
    const container = await started({ image, memoryMiB: 128 });
    await docker(["wait", container.name]);
    const { code, stderr } = await probe(container);

    expect(code).toBe(1);
    expect(stderr).toContain(`The container ${container.name} is exited (last exit code 137`);
    expect(stderr).toContain("ran out of memory (OOM-killed; raise steward:memoryMiB)");
  });

  test("tells how it ended before, where it runs again", async () => {
    // Ends at its first start alone: the volume keeps a mark of that.
    const mark = JSON.stringify(`${DATA_DIRECTORY}/ended`);
    const program = `const fs = process.getBuiltinModule("node:fs");
      if (fs.existsSync(${mark})) setInterval(() => {}, 1_000);
      else { fs.writeFileSync(${mark}, ""); process.exit(3); }`;
    const image = await changedImage(`steward-test-ending-suite:${process.pid}`, {
      "host/main.js": program,
    });
    onTestFinished(async () => void (await docker(["rmi", "--force", image])));
    const container = await started({ image });
    await docker(["wait", container.name]);
    await docker(["start", container.name]);

    const { stderr } = await probe(container);
    expect(stderr).toContain(
      `The container ${container.name} is running (last exit code 3, 0 restarts). It printed nothing.`,
    );
  });

  test("tells what is wrong with its config, with its last lines and no secret", async () => {
    const container = await started({ config: DEPRECATED, environment: { ATTESTATION_KEY: KEY } });
    await answersState(container.url, "crash-looping");
    const { stderr } = await probe(container);

    expect(await home(container.url)).toMatchObject({ status: 502, code: "config_invalid" });
    expect(stderr).toContain("the gateway is crash-looping (config_invalid): Invalid config at");
    expect(stderr).toMatch(/\n {2}\| .*gateway ended/);
    for (const secret of Object.values(container.settings.secrets)) expect(stderr).not.toContain(secret);
  });
});
