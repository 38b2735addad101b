import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dockerAvailable } from "../../infra/shell/docker.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { execute } from "../../scripts/execute.ts";

/** Second Docker engine, empty at first, like one on another machine. */
export interface OwnEngine {
  /** `unix://…` */
  address: string;
  /** Address at which the engine's containers reach this machine. */
  hostname: string;
  reboot(): Promise<void>;
  close(): Promise<void>;
}

const START_MS = 60_000;

/** Starts a second dockerd. It uses a userland proxy, because only the main engine may change iptables. */
export async function startOwnEngine(): Promise<OwnEngine> {
  const folder = await mkdtemp(path.join(tmpdir(), "steward-engine-"));
  const { bridge, hostname } = await ownBridge();
  const address = `unix://${folder}/docker.sock`;
  let engine = await started();

  async function started(): Promise<ChildProcess> {
    const [program = "", ...words] = rooted("dockerd", [
      `--data-root=${folder}/data`,
      `--exec-root=${folder}/exec`,
      `--pidfile=${folder}/pid`,
      `--host=${address}`,
      `--group=${process.getgid?.()}`,
      `--bridge=${bridge}`,
      "--iptables=false",
      "--ip6tables=false",
      "--ip=127.0.0.1",
    ]);
    const child = spawn(program, words, { stdio: ["ignore", "ignore", "pipe"], env: withSbin() });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
    const end = performance.now() + START_MS;
    while (!(await dockerAvailable({ ...process.env, DOCKER_HOST: address })).ok) {
      if (child.exitCode !== null || performance.now() > end) throw new Error(`no second engine:\n${said}`);
      await sleep(200);
    }
    return child;
  }

  async function ended(): Promise<void> {
    const gone = once(engine, "exit");
    await asRoot("sh", "-c", `kill "$(cat ${folder}/pid)"`);
    await gone;
  }

  return {
    address,
    hostname,
    async reboot() {
      await ended();
      engine = await started();
    },
    async close() {
      const env = { ...process.env, DOCKER_HOST: address };
      const { stdout } = await runProcess("docker", ["ps", "--all", "--quiet"], { env });
      const containers = stdout.split("\n").filter(Boolean);
      if (containers.length > 0) await runProcess("docker", ["rm", "--force", ...containers], { env });
      await ended();
      await asRoot("ip", "link", "del", bridge);
      await asRoot("rm", "-rf", folder);
    },
  };
}

/** Adds a network bridge with a unique name and address, because tests run in parallel. */
async function ownBridge(): Promise<{ bridge: string; hostname: string }> {
  let refused: unknown;
  for (let number = 200; number < 250; number++) {
    const bridge = `steward${number}`;
    const hostname = `172.31.${number}.1`;
    if ((await asRoot("ip", "-oneline", "addr", "show", "to", `${hostname}/24`)) !== "") continue;
    try {
      await asRoot("ip", "link", "add", "name", bridge, "type", "bridge");
    } catch (error) {
      refused = error;
      continue;
    }
    await asRoot("ip", "addr", "add", `${hostname}/24`, "dev", bridge);
    await asRoot("ip", "link", "set", bridge, "up");
    return { bridge, hostname };
  }
  throw new Error("no second engine: every network from 172.31.200.0 to 172.31.249.0 is taken", {
    cause: refused,
  });
}

function rooted(program: string, words: readonly string[]): string[] {
  return process.getuid?.() === 0 ? [program, ...words] : ["sudo", "-n", program, ...words];
}

async function asRoot(program: string, ...words: string[]): Promise<string> {
  const [first = "", ...rest] = rooted(program, words);
  return await execute(first, rest, { env: withSbin() });
}

/** Adds the folders in which Debian installs root's programs. */
function withSbin(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` };
}
