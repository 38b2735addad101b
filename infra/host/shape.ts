import { ROUTES } from "../../runtime/contract/routes.ts";
import { CHAT_USERS, DATA_DIRECTORY, PORTS } from "../../runtime/contract/names.ts";

/** Part of a configuration about the container, apart from its environment. */
interface ShapeArgs {
  containerName: string;
  /** The host's port and address that lead to the edge in the container. */
  port: { external: number; address: string };
  memoryMiB: number;
  /** Processors that it may keep busy, such as 1 or 0.5. */
  cpus: number;
  /** Processes and threads that the container's user may have. */
  maxProcesses: number;
  /** Part of the container's output that the engine keeps: so many files of this size. */
  logs: { maxMiB: number; files: number };
  /** Each chat's gateway gets a user of its own. Default: false. */
  isPerChat?: boolean;
}

/** Shape of the container, created by the stack or by Docker Compose. */
export interface Shape {
  name: string;
  user: string;
  command: string[];
  port: { internal: number; external: number; address: string };
  dataDirectory: string;
  tmpfs: Record<string, string>;
  securityOptions: string[];
  droppedCapabilities: string[];
  /** Absent for a container that needs none. */
  addedCapabilities?: string[];
  memoryMiB: number;
  cpus: string;
  maxProcesses: number;
  restart: "unless-stopped";
  logs: { driver: string; options: Record<string, string> };
  health: { test: string[]; interval: string; timeout: string; startPeriod: string; retries: number };
  stopSeconds: number;
}

/** Asks the gateway: the edge alone answers no message. */
const PROBE = `fetch("http://127.0.0.1:${PORTS.edge}${ROUTES.ready.path}").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`;

/** Returns the kernel's name of a right: an engine may report it in this form, however it was given. */
export function capability(right: string): string {
  return `CAP_${right}`;
}

/**
 * The container writes only to its data and to /tmp, gains no privileges, and restarts automatically
 * unless someone stopped it.
 */
export function shapeOf({
  containerName,
  port,
  memoryMiB,
  cpus,
  maxProcesses,
  logs,
  isPerChat = false,
}: ShapeArgs): Shape {
  return {
    name: containerName,
    // The image's own user, said here too so that a policy sees it. Where each chat has a user, the main process starts as
    // root and soon becomes that one: runtime/host/tenants/users.ts.
    user: isPerChat ? "root" : "steward",
    // The edge, which starts supervisor and gateway.
    command: ["/app/host/main.js"],
    port: { internal: PORTS.edge, ...port },
    dataDirectory: DATA_DIRECTORY,
    tmpfs: { "/tmp": "rw,noexec,nosuid,nodev,size=64m" },
    securityOptions: ["no-new-privileges"],
    droppedCapabilities: ["ALL"],
    ...(isPerChat && { addedCapabilities: CHAT_USERS.rights.map(capability) }),
    memoryMiB,
    cpus: String(cpus),
    maxProcesses,
    restart: "unless-stopped",
    logs: {
      driver: "json-file",
      options: { "max-size": `${logs.maxMiB}m`, "max-file": String(logs.files) },
    },
    health: {
      test: ["CMD", "node", "-e", PROBE],
      interval: "10s",
      timeout: "5s",
      startPeriod: "30s",
      retries: 3,
    },
    // The service ends within 9 s, with the answers that it has begun; what is cut off comes again. Where each chat has a
    // user, it copies their data then.
    stopSeconds: isPerChat ? 60 : 10,
  };
}
