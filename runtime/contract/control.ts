import * as z from "zod";
import type { Reason } from "./errors.ts";

/**
 * The variable that carries the control token into the container. Edge, supervisor and gateway
 * share it; each start of the container has its own.
 */
export const CONTROL_TOKEN_VARIABLE = "STEWARD_CONTROL_TOKEN";

/** The supervisor's control API, on its port, with the control token as a Bearer. */
export const CONTROL_ROUTES = {
  /** GET: {@link SandboxStatus} */
  status: "/status",
  /** GET, query `logs=true`: {@link ProcessList} */
  processes: "/processes",
  /** GET: {@link ContainerConfig} */
  config: "/config",
  /** POST: 202; stops the gateway and starts it anew, also out of "crash-looping". */
  restart: "/restart",
} as const;

/** The gateway's routes. Health needs no token; deliveries and status need the control token as a Bearer. */
export const GATEWAY_ROUTES = {
  live: "/healthz",
  ready: "/readyz",
  deliveries: "/deliveries",
  /** GET: {@link GatewayStatus} */
  status: "/status",
} as const;

/** Where the gateway is in its life, as seen from outside the container. */
export type SandboxState = "stopped" | "starting" | "ready" | "crash-looping";

/** State of the sandbox; "ready" exactly while the gateway's port answers. */
export interface SandboxStatus {
  state: SandboxState;
  /** ISO 8601: since when. */
  since: string;
  /** Times that the gateway was started again after a crash, since the container's start. */
  restarts: number;
  /** Why it is not ready, where a cause is known. */
  reason?: Reason;
  /** Milliseconds from the container's start to the gateway's first answer, once known. */
  coldStartMs?: number;
  /** The version that runs in the container. */
  version?: string;
}

/** One process of the container. */
export interface ProcessInfo {
  name: string;
  pid: number | null;
  state: "running" | "exited" | "backoff" | "crash-looping";
  startedAt: string | null;
  restarts: number;
  exitCode: number | null;
  /** The tail of its output, oldest line first; only when asked for. Secrets are redacted. */
  logs?: string[];
}

/** Answer of `/processes`. */
export interface ProcessList {
  processes: ProcessInfo[];
}

/** Answer of `/config`: the config file with its secrets redacted, `null` where it is not JSON. */
export interface ContainerConfig {
  config: unknown;
  path: string;
  valid: boolean;
  problems: { path: string; message: string }[];
}

/** The platforms that send events. */
export const platformSchema = z.enum(["slack", "telegram", "discord"]);

/** A chat platform. */
export type Platform = z.infer<typeof platformSchema>;

/**
 * One verified event of a platform, as the ledger keeps it and the gateway receives it.
 * `id` is the platform's own event id; `conversation` names what must stay in order;
 * `payload` is the platform's body as it came.
 */
export const deliverySchema = z.strictObject({
  id: z.string().min(1).max(256),
  platform: platformSchema,
  conversation: z.string().min(1).max(256),
  /** Milliseconds since the epoch. */
  receivedAt: z.number(),
  payload: z.record(z.string(), z.unknown()),
});

/** See {@link deliverySchema}. */
export type Delivery = z.infer<typeof deliverySchema>;

/**
 * How a delivery ended well. `answered`: a reply is out (perhaps a clear error text);
 * `ignored`: nothing to say (a bot's own message, an edit); `repeated`: it was answered before.
 *
 * A delivery that did not end well is a problem document: 503 or 429 (with Retry-After where
 * known) is tried again, 400 is not.
 */
export interface DeliveryOutcome {
  outcome: "answered" | "ignored" | "repeated";
  /** Why, for `ignored`. */
  note?: string;
}

/** How a chat platform stands: `unserved` is configured, but this version has no adapter for it. */
export interface ChannelHealth {
  platform: Platform;
  state: "ready" | "failing" | "disabled" | "unserved";
  /** Why it is not ready. */
  reason?: Reason;
}

/** Tokens and requests of one model on one day (UTC). */
export interface ModelUsage {
  /** YYYY-MM-DD */
  day: string;
  model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

/** Answer of the gateway's `/status`. */
export interface GatewayStatus {
  version: string;
  /** ISO 8601: when it became ready. */
  since: string;
  model: { id: string; reason?: Reason };
  channels: ChannelHealth[];
  counts: { conversations: number; messages: number; answered: number; active: number };
  /** The last seven days on which a model was asked. */
  usage: ModelUsage[];
}
