import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { docker } from "../../infra/shell/docker.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { DATA_DIRECTORY } from "../../runtime/contract/names.ts";
import { driftOf, type Drift } from "../../stacks/commands/drift/find.ts";
import { fixFor, stackShell, succeed, typeFix, type Shell } from "../journeys/typed.ts";
import { engine as local } from "../support/docker.ts";
import { startOwnEngine, type OwnEngine } from "../support/engine.ts";
import { createHostStack, type HostStack } from "../support/host-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

/** Suspends the gateway inside the container, which then holds its port and answers nothing. */
const HANG = `for (const pid of require("node:fs").readdirSync("/proc").filter(Number)) {
  let command = "";
  try { command = require("node:fs").readFileSync("/proc/" + pid + "/cmdline", "utf8"); } catch {}
  if (Number(pid) !== process.pid && command.includes("gateway/main.js")) process.kill(Number(pid), "SIGSTOP");
}`;

/** A change by hand, what a refresh says of it, and whether a preview without one sees it too. */
interface Change {
  by: string;
  commands: (names: HostStack["names"] & { image: string }) => string[][];
  /** Resource and what a refresh finds: `gone`, or the properties that differ. */
  drift: Record<string, string>;
  /** False if only a refresh sees it. */
  plain?: false;
  /** True if the supervisor ends it, within a minute. */
  ends?: true;
}

/** Every change by hand that this suite knows of. Add to it whatever lies. */
const CHANGES: Change[] = [
  {
    by: "docker stop",
    commands: ({ container }) => [["stop", "--time=3", container]],
    drift: { "host:Service": "health,status" },
  },
  {
    by: "docker pause",
    commands: ({ container }) => [["pause", container]],
    drift: { "host:Service": "health,status" },
  },
  {
    by: "a gateway that hangs",
    commands: ({ container }) => [["exec", container, "node", "-e", HANG]],
    drift: { "host:Service": "health" },
    ends: true,
  },
  {
    by: "docker update of what the provider reads",
    commands: ({ container }) => [
      ["update", "--memory=300m", "--memory-swap=300m", "--restart=no", "--cpus=0.5", container],
    ],
    drift: { Container: "cpus,memory,memorySwap,restart" },
    plain: false,
  },
  {
    by: "docker update of what the provider does not put back",
    commands: ({ container }) => [
      ["update", "--pids-limit=99", "--cpu-shares=99", "--cpuset-cpus=0", container],
    ],
    drift: { "host:Placement": "settings.CpuShares,settings.CpusetCpus,settings.PidsLimit" },
  },
  {
    by: "docker network disconnect",
    commands: ({ container }) => [["network", "disconnect", "bridge", container]],
    drift: { Container: "ports[0]", "host:Placement": "settings.networks[0]" },
  },
  {
    by: "docker rm",
    commands: ({ container }) => [["rm", "--force", container]],
    drift: { Container: "gone", "host:Service": "gone" },
  },
  {
    by: "docker rm and rmi",
    commands: ({ container, image }) => [
      ["rm", "--force", container],
      ["rmi", "--force", image],
    ],
    drift: { Container: "gone", RemoteImage: "gone", "host:Service": "gone" },
  },
];

/** The host's program, with the stack's own names on the engine. */
function programOf({ names }: HostStack): string {
  return [
    `import { loadConfig } from ${JSON.stringify(path.resolve("stacks/config.ts"))};`,
    `import { stackSource } from ${JSON.stringify(path.resolve("stacks/config/source.ts"))};`,
    `import { host } from ${JSON.stringify(path.resolve("stacks/host.ts"))};`,
    `export default () => host(loadConfig(stackSource()), ${JSON.stringify(names)});`,
  ].join("\n");
}

describe.skipIf(!local.ok)("a host stack that somebody changed by hand", { timeout: 2 * UPDATE_MS }, () => {
  const { DOCKER_CONFIG } = process.env;
  let engine: OwnEngine;
  let folder: string;
  let subject: HostStack;
  let image: string;
  let shell: Shell;

  beforeAll(async () => {
    engine = await startOwnEngine();
    const env = { ...process.env, DOCKER_HOST: engine.address };
    image = `steward:${(await buildBundle()).container.hash}`;
    await prepareBaseImage({ log: () => undefined, env });
    folder = await mkdtemp(path.join(tmpdir(), "steward-context-"));
    process.env["DOCKER_CONFIG"] = folder;
    await docker(["context", "create", "own", `--docker=host=${engine.address}`]);
    await docker(["context", "use", "own"]);
    subject = await createHostStack();
    shell = await stackShell(subject, "host-by-hand", programOf(subject));
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    if (DOCKER_CONFIG === undefined) delete process.env["DOCKER_CONFIG"];
    else process.env["DOCKER_CONFIG"] = DOCKER_CONFIG;
    await engine?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  }, UPDATE_MS);

  /** As `npm run drift` finds it. */
  async function drift(): Promise<Record<string, string>> {
    const found: Drift[] = [];
    await subject.stack.previewRefresh({ onEvent: (event) => void found.push(...driftOf(event)) });
    const last = (type: string) =>
      type
        .split(/[/:](?=\w+(?::\w+)?$)/)
        .at(-1)
        ?.replace(/^.*:(?=[A-Z])/, "") ?? type;
    return Object.fromEntries(
      found.map(({ type, what, properties }) => [
        type.includes("host:") ? `host:${last(type)}` : last(type),
        what === "gone" ? what : properties.join(","),
      ]),
    );
  }

  async function ready(): Promise<number> {
    return (await fetch(`${subject.url}/readyz`)).status;
  }

  /** Returns true if the gateway answers and the service reports it as ready. */
  async function recovered(): Promise<boolean> {
    const { code } = await runProcess("docker", ["exec", subject.names.container, "steward", "health"]);
    return code === 0 && (await ready()) === 200;
  }

  /** Returns the supervisor's record of the gateway's restarts. */
  async function restarts(): Promise<string> {
    const show = ["exec", subject.names.container, "cat", `${DATA_DIRECTORY}/logs/restarts.json`];
    return (await docker(show)).stdout;
  }

  async function failureOf(work: Promise<unknown>): Promise<string> {
    return work.then(() => "", String);
  }

  /** Types the command that an error prints and this matches. */
  async function typePrinted(text: string, pattern: RegExp): Promise<string> {
    const [, line = ""] = pattern.exec(text) ?? [];
    expect(line, text).not.toBe("");
    const asRoot = process.getuid?.() === 0 ? "" : "sudo -n ";
    return (await succeed(shell, line.replaceAll("sudo ", asRoot))).said;
  }

  const RENAME = /(docker rename \S+ \S+?)(?=[;.\s])/;

  test(
    "is on the engine of the current context, which the preview shows",
    { timeout: ENGINE_MS },
    async () => {
      const { stdout } = await subject.stack.preview();
      expect(stdout).toContain(`Docker engine: ${engine.address} (context own)`);
      await subject.stack.up();
      const names = async (env: NodeJS.ProcessEnv) =>
        (await docker(["ps", "--format={{.Names}}"], { env })).stdout.split("\n");

      expect(await names({ ...process.env, DOCKER_HOST: engine.address })).toContain(subject.names.container);
      expect(await names({ ...process.env, DOCKER_CONTEXT: "default" })).not.toContain(
        subject.names.container,
      );
      expect(await drift()).toEqual({});
    },
  );

  test.each(CHANGES)(
    "shows $by, and puts it back",
    async ({ commands, drift: wanted, plain = true, ends }) => {
      const change = async () => {
        for (const words of commands({ ...subject.names, image })) await docker(words);
      };
      const changeAgain = async () => {
        await vi.waitUntil(recovered, { timeout: 180_000, interval: 500 });
        await change();
      };
      /** Looks a second time if the supervisor ended the change before the first look was over. */
      const look = async (expectation: () => Promise<void>) => {
        const before = ends && (await restarts());
        await expectation().catch(async (error: unknown) => {
          if (!ends || (await restarts()) === before) throw error;
          await changeAgain();
          await expectation();
        });
      };
      await change();
      await look(async () => {
        const { changeSummary } = await subject.stack.preview();
        expect(Object.keys(changeSummary).join() !== "same").toBe(plain);
      });
      // The supervisor may act before the next look, so let it act first.
      if (ends) await changeAgain();
      await look(async () => expect(await drift()).toEqual(wanted));
      await subject.stack.up({ refresh: true });

      expect(await ready()).toBe(200);
      expect(await drift()).toEqual({});
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
    },
  );

  test.each(["stop", "rm --force"])(
    "is put back after docker %s by an update without a refresh",
    async (words) => {
      await docker([...words.split(" "), subject.names.container]);
      const { outputs } = await subject.stack.up();

      expect(outputs["readiness"]?.value).toContain("ok   GET /readyz");
      expect(await ready()).toBe(200);
      expect(await drift()).toEqual({});
    },
  );

  /** The service's part of the stack's state. The stack's own outputs are those of its last update, also after a refresh. */
  async function reported(): Promise<string> {
    const { deployment } = await subject.stack.exportStack();
    const { resources } = deployment as { resources: { type: string; outputs?: { report?: string } }[] };
    return resources.find(({ type }) => type.endsWith("host:Service"))?.outputs?.report ?? "";
  }

  test("reports no old answer after a refresh", async () => {
    expect(await reported()).toContain("ok   GET /readyz");
    await docker(["stop", "--time=3", subject.names.container]);
    await subject.stack.refresh();
    expect(await reported()).toMatch(/ is exited and not ready, exit code \d+, 0 restarts$/);
    await subject.stack.up();
    expect(await reported()).toContain("ok   GET /readyz");
  });

  test("names the command that renames it back, which works", async () => {
    await docker(["rename", subject.names.container, `${subject.names.container}-renamed`]);
    expect(await drift()).toMatchObject({ Container: "name", "host:Service": "gone" });
    await typePrinted(await failureOf(subject.stack.up()), RENAME);

    expect(await drift()).toEqual({});
  });

  test("refuses another container under its name, and goes on after the printed commands", async () => {
    const { container } = subject.names;
    await docker(["rm", "--force", container]);
    await docker(["create", `--name=${container}`, image, "true"]);
    const fix = fixFor("container_gone", await failureOf(subject.stack.up()));
    await typePrinted(await failureOf(subject.stack.up({ refresh: true })), RENAME);
    await typeFix(shell, fix);

    expect(await ready()).toBe(200);
    await docker(["rm", "--force", `${container}-other`]);
  });

  test("refuses to begin with an empty volume unless a refresh has found the loss", async () => {
    await docker(["rm", "--force", subject.names.container]);
    await docker(["volume", "rm", subject.names.volume]);
    const said = await failureOf(subject.stack.preview());
    expect(await drift()).toMatchObject({ Volume: "gone", Container: "gone" });
    await typeFix(shell, fixFor("volume_gone", said));

    expect(await ready()).toBe(200);
    expect(await drift()).toEqual({});
  });

  test("refuses a volume of its name that it did not make, before anything is made", async () => {
    await subject.stack.destroy();
    await docker(["volume", "create", subject.names.volume]);
    const said = await failureOf(subject.stack.preview());
    expect(said).toContain("host_name_taken");

    await typePrinted(
      said,
      /fix: (pulumi config set -s test steward:hostDataDirectory \S+), to use its data;/,
    );
    const closed = await failureOf(subject.stack.preview());
    await typePrinted(closed, /fix: (sudo chown .*)\.\n/);
    await subject.stack.preview();
    await subject.stack.removeConfig("steward:hostDataDirectory");

    expect(await failureOf(subject.stack.preview())).toContain("host_name_taken");
    await typePrinted(said, /or: (docker volume rm \S+), if nobody needs it/);
    await subject.stack.preview();
  });

  test("refuses a container of its name that it did not make, which the printed command removes", async () => {
    await docker(["create", `--name=${subject.names.container}`, image, "true"]);
    const said = await failureOf(subject.stack.preview());
    await typePrinted(said, /host_name_taken\)[^]*or: (docker rm --force \S+), if nobody needs it/);
    expect((await subject.stack.preview()).changeSummary).not.toHaveProperty("same");
  });

  test("finds the container of another engine that holds the port, by the printed commands", async () => {
    const other = `${subject.names.container}-elsewhere`;
    const env = { ...process.env, DOCKER_CONTEXT: "default" };
    const { image: base } = await prepareBaseImage({ log: () => undefined, env });
    const publish = `--publish=127.0.0.1:${new URL(subject.url).port}:80`;
    const run = ["run", "--detach", `--name=${other}`, publish, "--entrypoint=tail", base, "-f", "/dev/null"];
    await docker(run, { env });
    onTestFinished(async () => void (await docker(["rm", "--force", other], { env })));
    const said = await failureOf(subject.stack.preview());

    expect(said).toContain("is in use by a container of another Docker engine on this machine.");
    const contexts = await typePrinted(said, /with a name of (docker context ls),/);
    expect(contexts).toMatch(/^default /m);
    const [, look = ""] = /Stop it \((docker --context <name> ps --filter publish=\d+),/.exec(said) ?? [];
    expect((await succeed(shell, look.replace("<name>", "default"))).said).toContain(other);
    await succeed(shell, `docker --context default stop --time=0 ${other}`);
    await subject.stack.preview();
  });
});
