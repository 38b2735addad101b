import * as z from "zod/mini";
import { type Platform, platformSchema } from "./delivery.ts";
import { BUCKET_KEYS } from "./backup.ts";
import { DUTY_KEY } from "./duty.ts";
import { AGENT } from "./names.ts";

/**
 * A chat with a sandbox of its own: a direct chat, a group, a channel with its threads, or a paired browser. Its id is
 * `<platform>-<chat>`; it names the Durable Object, the bucket's prefix and a host's folder.
 */
export type TenantId = string;

/** A tenant's chat. That of a paired browser is its device. */
export interface TenantChat {
  platform: Platform | "web";
  chat: string;
}

/** Progress of an update of the running containers. */
export interface Renewal {
  /** Containers that were allowed to be replaced. */
  begun: number;
  /** Those of them that have answered with the present version. */
  answering: number;
  /** Tenants whose new container does not answer: no other one is replaced. */
  failing: TenantId[];
}

/** Characters of a chat's id that stand for themselves in a tenant's id. */
const PLAIN = /^[A-Za-z0-9-]$/;
/** Places of chats: the platforms, and the web chat. */
export const CHAT_PLACES = [...platformSchema.options, "web"] as const;
const TENANT_ID = new RegExp(`^(?:${CHAT_PLACES.join("|")})-(?:[A-Za-z0-9-]|_[0-9a-f]{2}){1,128}$`);

/** Returns true for the id of a tenant. Such an id is safe in a key of the bucket and in a path. */
export function isTenantId(text: string): boolean {
  return TENANT_ID.test(text);
}

/** Returns the tenant of a chat. */
export function tenantOf({ platform, chat }: TenantChat): TenantId {
  return `${platform}-${escaped(chat)}`;
}

/** Returns the tenant of a paired browser. */
export function tenantOfBrowser(deviceId: string): TenantId {
  return tenantOf({ platform: "web", chat: deviceId });
}

/** Returns the chat that a tenant serves. */
export function chatOfTenant(tenant: TenantId): TenantChat {
  const end = tenant.indexOf("-");
  const chat = decodeURIComponent(tenant.slice(end + 1).replaceAll("_", "%"));
  return { platform: tenant.slice(0, end) as TenantChat["platform"], chat };
}

/**
 * Returns true if a container sends scheduled messages to a chat: its own tenant's, or any chat of a deployment without
 * tenants.
 *
 * @param serves Value of TENANT_VARIABLE in the container.
 */
export function sendsTo(serves: string | undefined, chat: TenantChat): boolean {
  return serves === undefined || serves === "" || serves === tenantOf(chat);
}

/** Keys of a sandbox's own objects in the bucket; see {@link BUCKET_KEYS}. */
export type StateKeys = Pick<
  Record<keyof typeof BUCKET_KEYS, string>,
  "generations" | "config" | "marker"
> & {
  /** See {@link DUTY_KEY}. */
  duty: string;
};

/** Returns the keys of a tenant, or of the sandbox that serves the whole deployment. All have one config. */
export function stateKeys(tenant?: TenantId): StateKeys {
  if (tenant === undefined) return { ...BUCKET_KEYS, duty: DUTY_KEY };
  const prefix = `${TENANTS_PREFIX}${tenant}/`;
  return {
    config: BUCKET_KEYS.config,
    generations: `${prefix}generations/`,
    marker: `${prefix}.last-sync`,
    duty: `${prefix}duty.json`,
  };
}

/** Beginning of the keys of all tenants. */
export const TENANTS_PREFIX = `${AGENT}/tenants/`;

/** Returns the key of the object that says since when a tenant has had its chat's data. */
export function tenantMark(tenant: TenantId): string {
  return `${TENANTS_PREFIX}${tenant}/tenant.json`;
}

/** Key of the approvals that the directory keeps: {@link Approvals}. */
export const APPROVALS_KEY = `${TENANTS_PREFIX}approvals.json`;

const approvalLists = z.object({
  allowFrom: z.array(z.string()),
  operators: z.array(z.string()),
  /** Senders that wait for an approval. Absent if a version stored the lists that moved no requests. */
  requests: z.optional(
    z.array(
      z.object({
        id: z.string(),
        code: z.string(),
        createdAt: z.string(),
        meta: z.optional(z.record(z.string(), z.string())),
      }),
    ),
  ),
});

/** Approvals and requests of all platforms, for a sandbox that serves every chat again. */
export const approvalsForm = z.object({
  /** ISO 8601: when they were stored. */
  version: z.string(),
  platforms: z.partialRecord(platformSchema, approvalLists),
  /** Paired browsers, as a data directory keeps them in `devices/paired.json`. */
  browsers: z.optional(z.array(z.looseObject({ deviceId: z.string() }))),
});

/** See {@link approvalsForm}. */
export type Approvals = z.infer<typeof approvalsForm>;

// An underscore and two hexadecimal digits for each other byte: an id is a plain name, and no two chats share one.
function escaped(chat: string): string {
  return Array.from(new TextEncoder().encode(chat), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN.test(character) ? character : `_${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}
