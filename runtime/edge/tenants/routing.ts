import type { Delivery } from "../../contract/delivery.ts";
import { BROKER_PATH } from "../../contract/services.ts";
import { isTenantId, type TenantId, tenantOf } from "../../contract/tenant.ts";
import { placeOf } from "./place.ts";

const TENANT_PART = "/tenant/";

/** Returns the path at which a tenant's gateway reaches the broker. */
export function brokerPath(tenant: TenantId | undefined): string {
  return tenant === undefined ? BROKER_PATH : `${BROKER_PATH}${TENANT_PART}${tenant}`;
}

/** Returns the tenant in a broker URL, and the URL without it. */
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

export function tenantOfEvent(event: Delivery): TenantId | undefined {
  const place = placeOf(event);
  const tenant = place && tenantOf(place.chat);
  // Defensive check: no known platform has ids that are too long for a tenant's name.
  return tenant !== undefined && isTenantId(tenant) ? tenant : undefined;
}
