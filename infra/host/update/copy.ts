import { spawn } from "node:child_process";
import { request } from "node:http";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { run } from "../../shell/process.ts";

/** Facts of a container from the engine: those that are used. */
export interface Inspected {
  /** The image's id, whatever the container was made from. */
  Image: string;
  State: { Running: boolean };
  Config: { Hostname?: string; Labels: Record<string, string> | null };
  HostConfig: object;
}

/** A container of this name, running or not. */
export async function inspectContainer(name: string): Promise<Inspected | undefined> {
  const { code, stdout } = await run("docker", ["container", "inspect", name]);
  return code === 0 ? (JSON.parse(stdout) as Inspected[])[0] : undefined;
}

/**
 * Makes a container that is another's like: its image, environment, data and port. It is not started, also not
 * by the engine's own start.
 */
export async function copyContainer(from: string, to: string): Promise<void> {
  const found = await inspectContainer(from);
  if (found === undefined) throw new Error(`There is no container ${from}.`);
  const { Image, Config, HostConfig } = found;
  const { Hostname: _own, ...config } = Config;
  const wanted = { ...config, Image, HostConfig: { ...HostConfig, RestartPolicy: { Name: "no" } } };
  await post(`/containers/create?name=${encodeURIComponent(to)}`, wanted);
}

/** Asks the engine itself, on the way that the docker command has to it: a copy needs all that it knows. */
async function post(path: string, body: object): Promise<void> {
  const dialled = spawn("docker", ["system", "dial-stdio"], { stdio: ["pipe", "pipe", "inherit"] });
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
