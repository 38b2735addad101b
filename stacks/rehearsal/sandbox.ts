import path from "node:path";
import type { Bundle } from "../../infra/build/bundle.ts";
import { docker, dockerAvailable } from "../../infra/build/docker.ts";
import { stewardImage } from "../../infra/build/image.ts";
import type { ContainerMode } from "../../infra/rehearsal/cloudflare/index.ts";
import { ensureSidecarImage } from "../../infra/rehearsal/sidecar/index.ts";
import type { SandboxChoice } from "./options.ts";

/** How containers run in this rehearsal, and where the stand-ins have to listen for them. */
export interface Sandbox {
  mode: ContainerMode;
  /** The address of this machine as the container sees it. */
  standInHost: string;
  /** For people. */
  description: string;
}

/** What {@link chooseSandbox} works with. */
export interface SandboxOptions {
  choice: SandboxChoice;
  bundle: Bundle;
  dir: string;
  log: (line: string) => void;
}

/** Docker where an engine answers, else a local process; says which and why. */
export async function chooseSandbox({ choice, bundle, dir, log }: SandboxOptions): Promise<Sandbox> {
  const engine = choice === "process" ? { ok: false as const, reason: "asked for" } : await dockerAvailable();
  if (!engine.ok) {
    if (choice === "docker") throw new Error(`--sandbox docker: ${engine.reason}`);
    const command = [process.execPath, path.join(bundle.container.dir, "supervisor/main.js")];
    return {
      mode: { kind: "process", supervise: { command, dir: path.join(dir, "sandbox") } },
      standInHost: "127.0.0.1",
      description: `a local process instead of a container (${engine.reason})`,
    };
  }
  const { image, base } = await stewardImage(bundle, log);
  const sidecar = await ensureSidecarImage({ log });
  return {
    // The application's image has the same name at the emulated registry as on this engine.
    mode: { kind: "docker", image: (reference) => reference, sidecarImage: sidecar.image },
    standInHost: await bridgeAddress(),
    description: `a container on Docker ${engine.version} (${image}; base ${base}, sidecar ${sidecar.source})`,
  };
}

/** The engine's default network ends at this machine: its gateway address is ours. */
export async function bridgeAddress(): Promise<string> {
  const format = "{{(index .IPAM.Config 0).Gateway}}";
  const { stdout } = await docker(["network", "inspect", "bridge", "--format", format]);
  const address = stdout.trim();
  if (address !== "") return address;
  throw new Error(
    "Docker's bridge network has no gateway address. Fix: start dockerd with --bip=172.17.0.1/16",
  );
}
