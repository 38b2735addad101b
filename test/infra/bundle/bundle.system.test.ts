import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { prepareBaseImage } from "../../../rehearsal/base-image.ts";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { docker } from "../../../infra/shell/docker.ts";
import { APP_DOCKERFILE } from "../../../infra/bundle/image.ts";
import { freePorts } from "../../../rehearsal/ports.ts";
import { VERSION } from "../../../runtime/contract/names.ts";
import { engine } from "../../support/docker.ts";
import { temporaryDirectory } from "../../runtime/support/processes.ts";

test("the container bundle holds the command line, ready to be run by its name", async () => {
  const outdir = await temporaryDirectory();
  const { container } = await buildBundle({ outdir });
  const command = join(container.dir, "bin", "steward");
  const env = { PATH: process.env["PATH"], STEWARD_HOME: outdir };

  // Its first line names the image's Node.
  const steward = (...words: string[]) => promisify(execFile)(process.execPath, [command, ...words], { env });
  const version = await steward("--version");
  const list = await steward("pairing", "list", "slack");

  expect(await readFile(join(container.dir, "bundle"), "utf8")).toBe(`${container.hash}\n`);
  expect(version.stdout).toBe(`${VERSION}\n`);
  expect(list.stdout).toBe("No pending slack pairing requests.\n");
});

test.each([
  ["a container's", "supervisor/main.js", "control API ready"],
  ["a host's", "host/main.js", "steward listens"],
])("%s main process starts from the bundle, and ends well as soon as it says so", async (_, entry, there) => {
  const outdir = await temporaryDirectory();
  const { container } = await buildBundle({ outdir });
  const [port, gatewayPort, supervisorPort] = await freePorts(3);
  // Without a control token, which is no reason not to start.
  const child = spawn(process.execPath, [join(container.dir, entry)], {
    env: {
      PATH: process.env["PATH"],
      STEWARD_HOME: join(outdir, "home"),
      PORT: String(port),
      GATEWAY_PORT: String(gatewayPort),
      SUPERVISOR_PORT: String(supervisorPort),
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => void (output += piece));
  const gone = once(child, "close");
  // Its gateway is still starting then.
  child.stdout.on("data", () => output.includes(there) && child.kill("SIGTERM"));
  const [code] = await gone;
  expect(output).toContain(there);
  expect(code).toBe(0);
});

test.skipIf(!engine.ok)(
  "the same sources give the same layer of the application, built twice from nothing",
  { timeout: 600_000 },
  async () => {
    const { image: base } = await prepareBaseImage({ log: () => {} });
    const layer = async (): Promise<string> => {
      const { container } = await buildBundle({ outdir: await temporaryDirectory() });
      const build = [
        "build",
        "--quiet",
        "--no-cache",
        `--build-arg=BASE=${base}`,
        `--file=${APP_DOCKERFILE}`,
      ];
      const { stdout } = await docker([...build, container.context]);
      const id = stdout.trim();
      try {
        const layers = (name: string) => docker(["inspect", "--format", "{{json .RootFS.Layers}}", name]);
        const [below, all] = await Promise.all([layers(base), layers(id)]);
        return JSON.parse(all.stdout)[JSON.parse(below.stdout).length];
      } finally {
        await docker(["rmi", id]);
      }
    };

    expect(await layer()).toBe(await layer());
  },
);
