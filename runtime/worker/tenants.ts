import { AGENT } from "../contract/names.ts";
import type { EdgeSettings } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { BROKER_PATH } from "../contract/services.ts";
import { isTenantId, type TenantId, tenantOf } from "../contract/tenant.ts";
import type { Delivery } from "../contract/delivery.ts";
import type { PortRequest, Sandbox, SandboxPort } from "../edge/ports.ts";
import { isAboutPeople } from "../edge/tenants/operations.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { CONTROL_ROUTES, type OperationRequest } from "../contract/control.ts";
import type { TenantDirectory, Tenants } from "../edge/tenants/ports.ts";
import { placeOf } from "../edge/tenants/place.ts";
import type { WorkerEnvironment } from "./environment.ts";
import { received } from "./rpc.ts";

/** Comes before a tenant's id in the path by which its container reaches the broker. */
const TENANT_PART = "/tenant/";

/** Returns the path by which a container reaches the broker: it names the object that has its pass. */
export function brokerPath(tenant: TenantId | undefined): string {
  return tenant === undefined ? BROKER_PATH : `${BROKER_PATH}${TENANT_PART}${tenant}`;
}

/** Returns the tenant in the address of a request to the broker, and the address without it. */
export function readBrokerUrl(url: string): { tenant?: TenantId; url: string } {
  const whole = new URL(url);
  const start = `${BROKER_PATH}${TENANT_PART}`;
  if (!whole.pathname.startsWith(start)) return { url };
  const rest = whole.pathname.slice(start.length);
  const end = rest.indexOf("/");
  const tenant = end < 0 ? rest : rest.slice(0, end);
  if (!isTenantId(tenant)) return { url };
  whole.pathname = `${BROKER_PATH}${end < 0 ? "" : rest.slice(end)}`;
  return { tenant, url: whole.href };
}

/**
 * Returns the name of the object that an event belongs to: its chat's, or for an event of no chat the one that serves
 * the deployment.
 */
export function objectOf(event: Delivery, { tenancy }: Pick<EdgeSettings, "tenancy">): string {
  const place = tenancy === "chat" ? placeOf(event) : undefined;
  const tenant = place && tenantOf(place.chat);
  // Platforms do not have ids that are longer than a name may be.
  return tenant !== undefined && isTenantId(tenant) ? tenant : AGENT;
}

/** Returns the directory as the edge uses it; `undefined` if one sandbox serves all chats. */
export function remoteTenants({ DIRECTORY }: WorkerEnvironment): Tenants | undefined {
  if (DIRECTORY === undefined) return undefined;
  const directory = () => DIRECTORY.getByName(AGENT);
  // A chat that was let in stays a tenant: an isolate asks once.
  const known = new Set<TenantId>();
  return {
    totals: () => received(directory().totals()),
    tenants: (query) => received(directory().tenants(query)),
    renewal: (options) => received(directory().renewal(options)),
    async knows(tenant) {
      if (!known.has(tenant) && (await received(directory().knows(tenant)))) known.add(tenant);
      return known.has(tenant);
    },
  };
}

/** Returns an object's sandbox as the edge uses it. */
export function remoteSandbox({ SANDBOX }: WorkerEnvironment, name: string): Sandbox {
  // A stub belongs to the request that made it, so each call gets its own.
  const object = () => SANDBOX.getByName(name);
  return {
    status: () => received(object().status()),
    wake: (by) => received(object().wake(by)),
    restart: () => received(object().restart()),
    request: (port, request) => received(object().request(port, request)),
    peek: (request, port) => received(object().peek(request, port)),
  };
}

/**
 * Returns a chat's sandbox with what is the deployment's: operations about people, for which the directory starts no
 * container, and the config file.
 */
export function withDeployment(sandbox: Sandbox, env: WorkerEnvironment): Sandbox {
  const { DIRECTORY } = env;
  if (DIRECTORY === undefined) return sandbox;
  const deployment = remoteSandbox(env, AGENT);
  const whose = (port: SandboxPort | undefined, { path }: PortRequest): Sandbox =>
    port === "supervisor" && path.startsWith(CONTROL_ROUTES.configFile) ? deployment : sandbox;
  const ask = async (request: OperationRequest): Promise<Response> => {
    try {
      return Response.json(await received(DIRECTORY.getByName(AGENT).operate(request)));
    } catch (error) {
      if (error instanceof StewardError) return problemResponse(problem(error.code, error.message));
      throw error;
    }
  };
  return {
    ...sandbox,
    request: (port, request) => {
      const operation = aboutPeople(port, request);
      return operation === undefined ? whose(port, request).request(port, request) : ask(operation);
    },
    peek: (request, port) => {
      const operation = aboutPeople(port, request);
      return operation === undefined ? whose(port, request).peek(request, port) : ask(operation);
    },
  };
}

function aboutPeople(port: SandboxPort | undefined, { path, body = "" }: PortRequest) {
  if (port !== "supervisor" || path !== CONTROL_ROUTES.operations) return undefined;
  const request = JSON.parse(body) as OperationRequest;
  return isAboutPeople(request) ? request : undefined;
}

/** Returns the directory as objects use it. */
export function remoteDirectory({ DIRECTORY }: WorkerEnvironment): TenantDirectory {
  if (DIRECTORY === undefined)
    throw new StewardError(
      "environment_invalid",
      "TENANCY is chat, and the Worker has no binding DIRECTORY.",
    );
  // A stub belongs to the request that made it.
  const directory = () => DIRECTORY.getByName(AGENT);
  return {
    introduce: (tenant, event) => received(directory().introduce(tenant, event)),
    report: (tenant, report) => received(directory().report(tenant, report)),
    moved: (tenant, to) => received(directory().moved(tenant, to)),
    makeRoom: (tenant) => received(directory().makeRoom(tenant)),
    configChanged: () => received(directory().configChanged()),
    mayRenew: (tenant) => received(directory().mayRenew(tenant)),
  };
}
