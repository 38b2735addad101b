import { randomUUID } from "node:crypto";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { docker } from "../../../infra/shell/docker.ts";
import { stewardImage } from "../../../infra/bundle/image.ts";
import { DATA_DIRECTORY, PORTS } from "../../../runtime/contract/names.ts";
import { bridgeAddress } from "../../../rehearsal/sandbox.ts";
import { freePort } from "../ports.ts";
import { answersState } from "../ready.ts";
import { DEPRECATED, KEPT_FROM_STARTING, startStandIns, type Target } from "./target.ts";

const CONFIG = `${DATA_DIRECTORY}/steward.json`;
const COMMAND = "/app/host/main.js";
/** Confinement as in a host stack. */
const CONFINED = [
  "--read-only",
  "--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=64m",
  "--cap-drop=ALL",
  "--security-opt=no-new-privileges",
];

export async function containerTarget(): Promise<Target> {
  const container = await startContainer({ config: DEPRECATED });
  const { settings, platforms, url, stop } = container;
  await answersState(url, "crash-looping");
  return {
    url,
    settings,
    platforms,
    operator: { authorization: `Bearer ${settings.secrets.adminToken}` },
    down: KEPT_FROM_STARTING,
    mend: async () => void (await docker(["exec", container.name, "rm", CONFIG])),
    stop,
  };
}

interface ContainerOptions {
  config?: object;
  environment?: Record<string, string>;
  memoryMiB?: number;
  image?: string;
}

export async function startContainer(options: ContainerOptions = {}) {
  const { config, environment: added, memoryMiB = 512 } = options;
  const image = options.image ?? (await stewardImage(await buildBundle(), () => {})).image;
  const { settings, platforms, environment } = await startStandIns(await bridgeAddress());
  const name = `steward-suite-${randomUUID().slice(0, 8)}`;
  const volume = `--volume=${name}:${DATA_DIRECTORY}`;
  const port = await freePort();
  const variables = { ...environment, ADMIN_TOKEN: settings.secrets.adminToken, ...added };
  const stop = async (): Promise<void> => {
    await docker(["rm", "--force", name]);
    await docker(["volume", "rm", "--force", name]);
    await platforms.close();
  };
  let startedAt = 0;
  try {
    if (config !== undefined) {
      const write = `require("fs").writeFileSync(${JSON.stringify(CONFIG)}, process.argv[1], { mode: 0o600 })`;
      await docker(["run", "--rm", volume, "--entrypoint=node", image, "-e", write, JSON.stringify(config)]);
    }
    startedAt = performance.now();
    await docker(
      [
        "run",
        "--detach",
        `--name=${name}`,
        volume,
        `--publish=127.0.0.1:${port}:${PORTS.edge}`,
        ...CONFINED,
        `--memory=${memoryMiB}m`,
        `--memory-swap=${memoryMiB}m`,
        // Passes only the names of variables, because a command line is visible to other users.
        ...Object.keys(variables).map((variable) => `--env=${variable}`),
        image,
        COMMAND,
      ],
      { env: { ...process.env, ...variables } },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, url: `http://127.0.0.1:${port}`, settings, platforms, startedAt, stop };
}
