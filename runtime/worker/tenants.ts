import { AGENT } from "../contract/names.ts";
import type { EdgeSettings } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import type { TenantId } from "../contract/tenant.ts";
import type { Delivery } from "../contract/delivery.ts";
import type { NameDirectory, Sandbox } from "../edge/ports.ts";
import { withDeploymentParts } from "../edge/tenants/operations.ts";
import type { OperationRequest } from "../contract/control.ts";
import type { TenantDirectory, Tenants } from "../edge/tenants/ports.ts";
import { tenantOfEvent } from "../edge/tenants/routing.ts";
import type { WorkerEnvironment } from "./environment.ts";
import { unwrap, type Remote } from "./rpc.ts";

/**
 * Returns the name of the object that handles an event: its chat's, or the deployment's for an event without a chat.
 */
export function objectNameOf(event: Delivery, { tenancy }: Pick<EdgeSettings, "tenancy">): string {
  return (tenancy === "chat" ? tenantOfEvent(event) : undefined) ?? AGENT;
}

/** Returns access to the tenants' directory; `undefined` if one sandbox serves all chats. */
export function remoteTenants({ DIRECTORY }: WorkerEnvironment): Tenants | undefined {
  if (DIRECTORY === undefined) return undefined;
  const directory = () => DIRECTORY.getByName(AGENT);
  // An admitted chat stays a tenant, so an isolate asks the directory only once per chat.
  const known = new Set<TenantId>();
  return {
    totals: () => unwrap(directory().totals()),
    tenants: (query) => unwrap(directory().tenants(query)),
    renewal: (options) => unwrap(directory().renewal(options)),
    async knows(tenant) {
      if (!known.has(tenant) && (await unwrap(directory().knows(tenant)))) known.add(tenant);
      return known.has(tenant);
    },
  };
}

export function remoteNames(object: () => Remote<NameDirectory>): NameDirectory {
  return {
    names: (keys) => unwrap(object().names(keys)),
    entries: (query) => unwrap(object().entries(query)),
    noteNames: (sightings) => unwrap(object().noteNames(sightings)),
  };
}

export function remoteSandbox({ SANDBOX }: WorkerEnvironment, name: string): Sandbox {
  // A stub belongs to the request that created it, so each call gets a new one.
  const object = () => SANDBOX.getByName(name);
  return {
    status: () => unwrap(object().status()),
    wake: (by) => unwrap(object().wake(by)),
    restart: () => unwrap(object().restart()),
    request: (port, request) => unwrap(object().request(port, request)),
    peek: (request, port) => unwrap(object().peek(request, port)),
  };
}

/**
 * Wraps a chat's sandbox. Access-management operations run in the tenant directory, without starting a container.
 * Requests for the config file go to the deployment's sandbox.
 */
export function withDeployment(sandbox: Sandbox, env: WorkerEnvironment): Sandbox {
  const { DIRECTORY } = env;
  if (DIRECTORY === undefined) return sandbox;
  const operate = (request: OperationRequest) => unwrap(DIRECTORY.getByName(AGENT).operate(request));
  return withDeploymentParts(sandbox, { deployment: remoteSandbox(env, AGENT), operate });
}

export function remoteDirectory({ DIRECTORY }: WorkerEnvironment): TenantDirectory {
  if (DIRECTORY === undefined)
    throw new StewardError(
      "environment_invalid",
      "TENANCY is chat, and the Worker has no binding DIRECTORY.",
    );
  const directory = () => DIRECTORY.getByName(AGENT);
  return {
    introduce: (tenant, event) => unwrap(directory().introduce(tenant, event)),
    meet: (tenant) => unwrap(directory().meet(tenant)),
    report: (tenant, report) => unwrap(directory().report(tenant, report)),
    moved: (tenant, to) => unwrap(directory().moved(tenant, to)),
    makeRoom: (tenant) => unwrap(directory().makeRoom(tenant)),
    configChanged: () => unwrap(directory().configChanged()),
    mayRenew: (tenant) => unwrap(directory().mayRenew(tenant)),
  };
}
