import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Environment } from "../../contract/environment.ts";
import type { TenantId } from "../../contract/tenant.ts";
import { CONFIG_VARIABLE, TENANT_VARIABLE } from "../../contract/variables.ts";
import type { Broker } from "../../edge/broker.ts";
import type { PageSocket } from "../../edge/page-sockets.ts";
import type { Sandbox } from "../../edge/ports.ts";
import { brokerPath } from "../../edge/tenants/routing.ts";
import { ensureDirectory } from "../../process/files.ts";
import type { Log } from "../../shared/log.ts";
import { createSupervisor, type Supervisor } from "../../supervisor/supervisor.ts";
import { supervisedSandbox } from "../sandbox.ts";
import { openGatewaySocket } from "./pages.ts";
import type { TenantUsers } from "./users.ts";

/** Time for the gateway to stop, in milliseconds. It drains for up to 7 s. */
const STOP_MS = 8_000;

export interface RunSurroundings {
  users: TenantUsers;
  configPath: string;
  /** Path of the config copy that the chats' gateways read. */
  sharedConfig: string;
  /** Folder for the supervisors' own files. */
  logs: string;
  commands: Record<"command" | "cli", readonly [string, ...string[]]>;
  /** Returns a gateway's environment, with broker passes instead of API keys. */
  environment(broker: { path: string; token: string }): Environment;
  bundle: string;
  onOutput(line: string): void;
  log: Log;
}

export interface TenantRunOptions extends RunSurroundings {
  tenant: TenantId;
  onChange(): void;
}

export interface TenantRun {
  supervisor: Supervisor;
  sandbox: Sandbox;
  pass: string;
  openSocket(headers: Record<string, string>, onOpen: (socket: PageSocket) => void): Promise<void>;
}

export function startTenantRun(
  options: TenantRunOptions,
  { port, broker }: { port: number; broker: Pick<Broker, "counts"> },
): TenantRun {
  const { tenant, users, configPath, sharedConfig, commands, bundle, onOutput, log } = options;
  const { home, user } = users.of(tenant);
  const logs = path.join(options.logs, tenant);
  ensureDirectory(logs);
  const [controlToken, pass] = [token(), token()];
  const supervisor = createSupervisor({
    ...commands,
    environment: {
      ...options.environment({ path: brokerPath(tenant), token: pass }),
      HOME: home,
      [TENANT_VARIABLE]: tenant,
      [CONFIG_VARIABLE]: sharedConfig,
    },
    home,
    user,
    configPath,
    logs,
    gatewayPort: port,
    controlToken,
    bundle,
    log,
    onOutput,
    stopGraceMs: STOP_MS,
  });
  supervisor.onChange(() => options.onChange());
  supervisor.start();
  log.info("a chat's gateway starts", { tenant, user: user.id });
  const authorization = `Bearer ${controlToken}`;
  return {
    supervisor,
    sandbox: supervisedSandbox({ supervisor, broker, controlToken, log }),
    pass,
    openSocket: (headers, onOpen) => openGatewaySocket(port, { ...headers, authorization }, onOpen),
  };
}

/** Returns a token without a colon or a slash; see `withPasses`. */
function token(): string {
  return randomBytes(32).toString("hex");
}
