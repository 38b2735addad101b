import { AGENT } from "../contract/names.ts";
import type { EdgeSettings } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { BROKER_PATH } from "../contract/services.ts";
import { isTenantId, type TenantId, tenantOf } from "../contract/tenant.ts";
import type { Delivery } from "../contract/delivery.ts";
import type { TenantDirectory } from "../edge/tenants/ports.ts";
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
    makeRoom: (tenant) => received(directory().makeRoom(tenant)),
  };
}
