import type { Log } from "../shared/log.ts";
import type { Broker } from "../edge/broker.ts";
import type { PortRequest, Sandbox } from "../edge/ports.ts";
import { createControl } from "../supervisor/control.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";

/** Timeout of `peek` in milliseconds, so that a hung gateway does not delay a status page. */
const PEEK_MS = 2_000;

interface SandboxOptions {
  supervisor: Supervisor;
  broker: Pick<Broker, "counts">;
  controlToken: string;
  log: Log;
}

/** Presents this process's supervisor to the edge as a sandbox that never sleeps. */
export function supervisedSandbox({ supervisor, broker, controlToken, log }: SandboxOptions): Sandbox {
  const control = createControl(supervisor, controlToken, log);
  const authorization = `Bearer ${controlToken}`;
  const init = ({ method, body }: PortRequest): RequestInit => ({
    method,
    headers: {
      authorization,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
  });
  const askSupervisor = async (request: PortRequest): Promise<Response> => {
    const answer = await control({ ...request, authorization });
    if (!("content" in answer)) return Response.json(answer.value, { status: answer.status });
    const { status, content, size } = answer;
    return new Response(content, { status, headers: { "content-length": String(size) } });
  };
  return {
    status: async () => ({ ...supervisor.status(), broker: { ...broker.counts } }),
    wake: async (by) => {
      if (by === "operator") supervisor.needed();
      return true;
    },
    restart: async () => supervisor.restart(),
    request: async (port, request) =>
      port === "supervisor" ? askSupervisor(request) : supervisor.fetchGateway(request.path, init(request)),
    peek: async (request, port = "gateway") => {
      if (port === "supervisor") return askSupervisor(request);
      if (supervisor.status().state !== "ready") return undefined;
      return supervisor.fetchGateway(request.path, {
        ...init(request),
        signal: AbortSignal.timeout(PEEK_MS),
      });
    },
  };
}
