import path from "node:path";
import type { Bundle } from "../infra/bundle/bundle.ts";
import { stewardImage } from "../infra/bundle/image.ts";
import { docker, dockerAvailable } from "../infra/shell/docker.ts";
import { BuildFailure } from "../infra/shell/failure.ts";
import { prepareBaseImage } from "./base-image.ts";
import type { ContainerMode } from "./cloudflare/index.ts";
import { LOOPBACK } from "./loopback.ts";
import type { SandboxChoice } from "./options.ts";
import { ensureSidecarImage, sidecarImageName } from "./sidecar/index.ts";

export interface ContainerSetup {
  mode: ContainerMode;
  /** Address at which containers reach this machine. */
  standInHost: string;
  description: string;
}

export interface ContainerSetupOptions {
  choice: SandboxChoice;
  bundle: Bundle;
  dir: string;
  log: (line: string) => void;
}

/**
 * Chooses how containers run. `auto` uses Docker, or local processes if the engine does not respond or an image is
 * missing.
 */
export async function chooseContainerSetup(options: ContainerSetupOptions): Promise<ContainerSetup> {
  const { choice, log } = options;
  if (choice === "process") return processSandbox(options, "as requested");
  const engine = await dockerAvailable();
  if (!engine.ok) {
    if (choice === "docker") throw new Error(`--sandbox docker: ${engine.reason}`);
    return processSandbox(options, engine.reason);
  }
  try {
    return await dockerSandbox(options, engine.version);
  } catch (error) {
    if (choice === "docker" || !(error instanceof BuildFailure)) throw error;
    log(`No container on Docker: ${error.reason} [${error.code}]. --sandbox docker shows the fix.`);
    return processSandbox(options, error.reason);
  }
}

/** Returns a container mode suitable only for removing the previous run's containers. */
export async function previousContainerMode(dir: string, standInHost: string): Promise<ContainerMode> {
  if (standInHost !== LOOPBACK && (await dockerAvailable()).ok) {
    return { kind: "docker", image: (reference) => reference, sidecarImage: await sidecarImageName() };
  }
  // Run an empty script, so that each container exits immediately.
  return processMode(dir, [process.execPath, "--eval", ""]);
}

async function dockerSandbox(
  { bundle, log }: ContainerSetupOptions,
  version: string,
): Promise<ContainerSetup> {
  const base = await prepareBaseImage({ log });
  const { image } = await stewardImage(bundle, log);
  const sidecar = await ensureSidecarImage({ log });
  return {
    // The local image has the name by which the stack references it.
    mode: { kind: "docker", image: (reference) => reference, sidecarImage: sidecar.image },
    standInHost: await bridgeAddress(),
    description: `a container on Docker ${version} (${image}; base ${base.source}, sidecar ${sidecar.source}; max_instances is not enforced)`,
  };
}

function processSandbox({ bundle, dir }: ContainerSetupOptions, why: string): ContainerSetup {
  return {
    mode: processMode(dir, [process.execPath, path.join(bundle.container.dir, "supervisor/main.js")]),
    standInHost: LOOPBACK,
    description: `a local process instead of a container (${why})`,
  };
}

function processMode(dir: string, command: string[]): ContainerMode {
  return { kind: "process", supervise: { command, dir: path.join(dir, "sandbox") } };
}

/** Returns this machine's address in the Docker engine's default network. */
export async function bridgeAddress(): Promise<string> {
  const format = "{{(index .IPAM.Config 0).Gateway}}";
  const { stdout } = await docker(["network", "inspect", "bridge", "--format", format]);
  const address = stdout.trim();
  if (address !== "") return address;
  throw new Error(
    "Docker's bridge network has no gateway address. Fix: start dockerd with --bip=172.17.0.1/16",
  );
}
