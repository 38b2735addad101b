/**
 * Who may ask a route.
 * `public`: everyone. `webhook`: the platform by its signature; with PUBLIC_WEBHOOKS=false only
 * together with an identity. `identity`: whoever the identity gateway (or, on a host, ADMIN_TOKEN) vouches for.
 */
export type RouteAccess = "public" | "webhook" | "identity";

/** One route of the edge. */
export interface Route {
  method: "GET" | "POST";
  path: string;
  access: RouteAccess;
}

/** The edge's routes. App, stacks (which paths bypass the identity gateway) and tests read this table. */
export const ROUTES = {
  home: { method: "GET", path: "/", access: "public" },
  live: { method: "GET", path: "/healthz", access: "public" },
  ready: { method: "GET", path: "/readyz", access: "public" },
  /** The page holds nothing: what it may see is settled on its socket. */
  chat: { method: "GET", path: "/chat", access: "public" },
  /** A WebSocket, see chat.ts: the device proves itself on it. */
  chatSocket: { method: "GET", path: "/chat/socket", access: "public" },
  slackEvents: { method: "POST", path: "/slack/events", access: "webhook" },
  telegramWebhook: { method: "POST", path: "/telegram-webhook", access: "webhook" },
  discordInteractions: { method: "POST", path: "/discord/interactions", access: "webhook" },
  admin: { method: "GET", path: "/_admin/", access: "identity" },
  cli: { method: "GET", path: "/debug/cli", access: "identity" },
  logs: { method: "GET", path: "/debug/logs", access: "identity" },
  version: { method: "GET", path: "/debug/version", access: "identity" },
  ledger: { method: "GET", path: "/debug/ledger", access: "identity" },
  ledgerReplay: { method: "POST", path: "/_admin/api/ledger/replay", access: "identity" },
  metrics: { method: "GET", path: "/metrics", access: "identity" },
  metricsJson: { method: "GET", path: "/_admin/api/metrics", access: "identity" },
  processes: { method: "GET", path: "/debug/processes", access: "identity" },
  containerConfig: { method: "GET", path: "/debug/container-config", access: "identity" },
} as const satisfies Record<string, Route>;
