import * as z from "zod/mini";
import { type Platform, platformSchema } from "./delivery.ts";
import { BUCKET_KEYS } from "./backup.ts";
import { DUTY_KEY } from "./duty.ts";
import { AGENT } from "./names.ts";

/**
 * Id of a chat that has its own sandbox, in the form `<platform>-<chat>`. The chat is a direct chat, a group, a channel
 * with its threads, or a paired browser. The id names the Durable Object, the bucket's prefix and a host's folder.
 */
export type TenantId = string;

/** A tenant's chat. For a paired browser, `chat` is the device id. */
export interface TenantChat {
  platform: Platform | "web";
  chat: string;
}

/** Progress of replacing the running containers after an update. */
export interface Renewal {
  /** Number of containers whose replacement is allowed, including those already replaced. */
  begun: number;
  /** Number of containers started for this update that have become ready. */
  answering: number;
  /** Tenants with a new container that does not answer. They block all further replacements. */
  failing: TenantId[];
}

/** Characters of a chat's id that remain unescaped in a tenant's id. */
const PLAIN = /^[A-Za-z0-9-]$/;
export const CHAT_PLACES = [...platformSchema.options, "web"] as const;
const TENANT_ID = new RegExp(`^(?:${CHAT_PLACES.join("|")})-(?:[A-Za-z0-9-]|_[0-9a-f]{2}){1,128}$`);

/** Returns true if a string has the form of a tenant id, which is safe in object keys and paths. */
export function isTenantId(text: string): boolean {
  return TENANT_ID.test(text);
}

export function tenantOf({ platform, chat }: TenantChat): TenantId {
  return `${platform}-${escaped(chat)}`;
}

export function tenantOfBrowser(deviceId: string): TenantId {
  return tenantOf({ platform: "web", chat: deviceId });
}

export function chatOfTenant(tenant: TenantId): TenantChat {
  const end = tenant.indexOf("-");
  const chat = decodeURIComponent(tenant.slice(end + 1).replaceAll("_", "%"));
  return { platform: tenant.slice(0, end) as TenantChat["platform"], chat };
}

/**
 * Returns true if a container sends scheduled messages to a chat. `serves` is the container's tenant; without one,
 * the container serves every chat.
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

/**
 * Returns the bucket keys of a tenant's sandbox; without `tenant`, of the deployment's sandbox. All sandboxes use the
 * same key for the config.
 */
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

export const TENANTS_PREFIX = `${AGENT}/tenants/`;

/**
 * Returns the key of the bucket object that records when a chat's data was exported from the shared state to the
 * chat's tenant. The object is also written if the chat had no data there.
 */
export function tenantMark(tenant: TenantId): string {
  return `${TENANTS_PREFIX}${tenant}/tenant.json`;
}

/** Key of the {@link Approvals} that the tenant directory stores. */
export const APPROVALS_KEY = `${TENANTS_PREFIX}approvals.json`;

const approvalLists = z.object({
  allowFrom: z.array(z.string()),
  operators: z.array(z.string()),
  /** Senders waiting for approval. Absent in lists that an older version stored. */
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

/**
 * Approvals and pairing requests of all platforms. They are transferred when chats return from separate sandboxes to a
 * shared one.
 */
export const approvalsForm = z.object({
  /** ISO 8601: when they were stored. */
  version: z.string(),
  platforms: z.partialRecord(platformSchema, approvalLists),
  /** Paired browsers, in the format of `devices/paired.json` in the data directory. */
  browsers: z.optional(z.array(z.looseObject({ deviceId: z.string() }))),
});

export type Approvals = z.infer<typeof approvalsForm>;

// Writes each byte that PLAIN does not match as `_` and two hexadecimal digits, so that ids are unique and safe in
// paths.
function escaped(chat: string): string {
  return Array.from(new TextEncoder().encode(chat), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN.test(character) ? character : `_${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}
