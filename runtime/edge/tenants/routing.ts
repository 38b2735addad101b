import type { Delivery } from "../../contract/delivery.ts";
import { BROKER_PATH } from "../../contract/services.ts";
import { isTenantId, type TenantId, tenantOf } from "../../contract/tenant.ts";
import { placeOf } from "./place.ts";

/** Comes before a tenant's id in the path by which its gateway reaches the broker. */
const TENANT_PART = "/tenant/";

/** Returns the path by which a gateway reaches the broker: it names the tenant that has its pass. */
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

/** Returns the tenant of an event's chat; `undefined` for an event of no chat. */
export function tenantOfEvent(event: Delivery): TenantId | undefined {
  const place = placeOf(event);
  const tenant = place && tenantOf(place.chat);
  // Platforms do not have ids that are longer than a name may be.
  return tenant !== undefined && isTenantId(tenant) ? tenant : undefined;
}
