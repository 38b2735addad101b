import { spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { DATA_DIRECTORY } from "../../../runtime/contract/names.ts";
import { dockerEnvironment } from "../../shell/docker.ts";
import { type Finished, runProcess, tail } from "../../shell/process.ts";

export interface InspectedContainer {
  Id: string;
  /** The image's id, even if the container was created by image name. */
  Image: string;
  RestartCount: number;
  State: {
    Status: string;
    Running: boolean;
    Paused: boolean;
    ExitCode: number;
    OOMKilled: boolean;
  };
  Config: { Hostname?: string; Labels: Record<string, string> | null; Env: string[] | null };
  HostConfig: Record<string, unknown>;
  NetworkSettings: { Networks: Record<string, unknown> };
}

/** Settings of a trial container. The container publishes no port and mounts only `volume`. */
interface Trial {
  image: string;
  network: string;
  volume: string;
}

export interface Containers {
  /**
   * Returns a container by name or id, running or not; `undefined` if it does not exist.
   *
   * @throws StewardError `docker_unavailable` if the `docker` command fails for any other reason.
   */
  inspect(name: string): Promise<InspectedContainer | undefined>;
  /** Runs the `docker` command. A non-zero exit code does not throw. */
  docker(words: readonly string[]): Promise<Finished>;
  /**
   * Creates a stopped copy of a container with its image, environment, data and port; `trial` overrides these. Docker
   * never starts the copy automatically.
   */
  copy(from: InspectedContainer, to: string, trial?: Trial): Promise<void>;
  wait(milliseconds: number): Promise<void>;
}

/**
 * Returns the container operations of a Docker engine.
 *
 * @param address Docker host address. Default: the `docker` command's.
 */
export function containersOf(address?: string): Containers {
  const env = dockerEnvironment(address);
  const docker = (words: readonly string[]): Promise<Finished> => runProcess("docker", words, { env });
  return {
    docker,
    async inspect(name) {
      const asked = await docker(["container", "inspect", name]);
      if (asked.code === 0) return (JSON.parse(asked.stdout) as InspectedContainer[])[0];
      if (/no such container/i.test(asked.stderr)) return undefined;
      throw new StewardError("docker_unavailable", tail(asked, 1));
    },
    async copy({ Image, Config, HostConfig }, to, trial) {
      const { Hostname: _own, ...config } = Config;
      const own = { ...HostConfig, RestartPolicy: { Name: "no" }, ...(trial && trialHostConfig(trial)) };
      const wanted = { ...config, Image: trial?.image ?? Image, HostConfig: own };
      await post(env, `/containers/create?name=${encodeURIComponent(to)}`, wanted);
    },
    wait: (milliseconds) => sleep(milliseconds),
  };
}

function trialHostConfig({ network, volume }: Trial): object {
  return { NetworkMode: network, PortBindings: {}, Binds: [`${volume}:${DATA_DIRECTORY}`] };
}

/**
 * Sends a POST request to the engine's API through the `docker` command. Only the API accepts a container's settings
 * in the format in which it reports them.
 */
async function post(env: NodeJS.ProcessEnv, path: string, body: object): Promise<void> {
  // Import only when a container is copied, which is rare: node:http also loads undici, which takes 25 ms.
  const { request } = await import("node:http");
  const dialled = spawn("docker", ["system", "dial-stdio"], { env, stdio: ["pipe", "pipe", "inherit"] });
  const connection = Duplex.from({ readable: dialled.stdout, writable: dialled.stdin });
  try {
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const asked = request(
        {
          method: "POST",
          path,
          headers: { host: "docker", "content-type": "application/json" },
          createConnection: () => connection,
        },
        (response) => {
          text(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject);
        },
      );
      asked.on("error", reject);
      asked.end(JSON.stringify(body));
    });
    if (status !== 201) throw new Error(`The engine refuses the copy of a container (${status}): ${answer}`);
  } finally {
    connection.destroy();
    dialled.kill();
  }
}
