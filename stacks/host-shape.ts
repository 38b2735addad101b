import { shapeOf, type Shape } from "../infra/host/shape.ts";
import type { HostNames } from "../runtime/contract/names.ts";
import type { HostConfig } from "./config.ts";

/** The container that a host's configuration stands for. */
export function hostShape(config: HostConfig, names: HostNames): Shape {
  return shapeOf({
    containerName: names.container,
    port: { external: config.hostPort, address: config.hostAddress },
    memoryMiB: config.memoryMiB,
    cpus: config.cpus,
    maxProcesses: config.maxProcesses,
    logs: { maxMiB: config.logMaxMiB, files: config.logFiles },
  });
}
