import { ROUTES } from "../../runtime/contract/routes.ts";
import { CHAT_USERS, DATA_DIRECTORY, PORTS } from "../../runtime/contract/names.ts";

interface ShapeArgs {
  containerName: string;
  /** Port and address on the host that forward to the edge. */
  port: { external: number; address: string };
  memoryMiB: number;
  /** Maximum number of CPUs, such as 1 or 0.5. */
  cpus: number;
  maxProcesses: number;
  /** Log rotation: size per file in MiB, and number of files. */
  logs: { maxMiB: number; files: number };
  /** Run each chat's gateway as a separate user. Default: false. */
  isPerChat?: boolean;
}

/** Settings of the container, for the stack and for Docker Compose. */
export interface Shape {
  name: string;
  user: string;
  command: string[];
  port: { internal: number; external: number; address: string };
  dataDirectory: string;
  tmpfs: Record<string, string>;
  securityOptions: string[];
  droppedCapabilities: string[];
  addedCapabilities?: string[];
  memoryMiB: number;
  cpus: string;
  maxProcesses: number;
  restart: "unless-stopped";
  logs: { driver: string; options: Record<string, string> };
  health: { test: string[]; interval: string; timeout: string; startPeriod: string; retries: number };
  stopSeconds: number;
}

/** Health check. Requests the gateway's readiness, because the edge responds even without a gateway. */
const PROBE = `fetch("http://127.0.0.1:${PORTS.edge}${ROUTES.ready.path}").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`;

/** Returns a capability's name with the kernel's prefix. Docker may report the prefix even if the setting omits it. */
export function capability(right: string): string {
  return `CAP_${right}`;
}

/**
 * Returns the container's settings. The container can write only to its data and /tmp, cannot gain privileges, and
 * restarts unless somebody stopped it.
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
    // Set the user explicitly: the policies cannot read the image's default user. If each chat has its own user, the
    // main process begins as root and switches to `steward`: runtime/host/tenants/users.ts.
    user: isPerChat ? "root" : "steward",
    // Starts the edge, which starts the supervisor and the gateway.
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
    // The service needs up to 9 s to finish replies. If `isPerChat`, the service also copies the chats' data.
    stopSeconds: isPerChat ? 60 : 10,
  };
}
