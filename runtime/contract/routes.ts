import { BROKER_PATH } from "./services.ts";

/**
 * Access to a route: who may use it, and the response to everyone else.
 *
 * - `public`: everyone.
 * - `webhook`: the platform, verified by its signature. Everyone else gets 403, or 503 while the gateway is down; the
 * Discord route responds with 401 in both cases. With PUBLIC_WEBHOOKS=false, the caller must also have an identity;
 * without an identity, the response is 401.
 * - `identity`: people verified by the identity gateway or, on a host without an identity gateway, holders of
 * ADMIN_TOKEN. Everyone else gets 403 or, in a browser, a 302 to the sign-in page. If neither the identity gateway
 * nor ADMIN_TOKEN is configured, everyone gets 500.
 * - `stack`: the stack that deployed this instance, verified by its signature (stack-signature.ts). Everyone else
 * gets 403.
 * - `gateway`: the running gateway, verified by the broker pass that it received when it started. Everyone else gets
 * 403.
 * - `device`: a client that opens a WebSocket and proves over it that its device is paired. On the WebSocket route, a
 * request that is not a WebSocket upgrade gets 426. On the file route, a request needs a ticket issued over the
 * WebSocket; without a ticket, the request gets 403.
 */
export type RouteAccess = "public" | "webhook" | "identity" | "stack" | "gateway" | "device";

export interface Route {
  method: "GET" | "POST" | "PATCH" | "PUT";
  path: string;
  access: RouteAccess;
  /** Served only on a host that uses ADMIN_TOKEN instead of an identity gateway. */
  onlyWithAdminToken?: true;
}

/** All routes of the edge. */
export const ROUTES = {
  home: { method: "GET", path: "/", access: "public" },
  live: { method: "GET", path: "/healthz", access: "public" },
  ready: { method: "GET", path: "/readyz", access: "public" },
  asset: { method: "GET", path: "/assets/:file", access: "public" },
  /** The page contains no data; the socket authenticates the device. */
  chat: { method: "GET", path: "/chat", access: "public" },
  chatManifest: { method: "GET", path: "/chat/manifest", access: "public" },
  /** The device authenticates on the WebSocket: see chat.ts. */
  chatSocket: { method: "GET", path: "/chat/socket", access: "device" },
  /** A file that the assistant sent to a device. Only that device's pages can fetch it. */
  chatFile: { method: "GET", path: "/chat/files/:item", access: "device" },
  slackEvents: { method: "POST", path: "/slack/events", access: "webhook" },
  telegramWebhook: { method: "POST", path: "/telegram-webhook", access: "webhook" },
  discordInteractions: { method: "POST", path: "/discord/interactions", access: "webhook" },
  signInPage: { method: "GET", path: "/_admin/sign-in", access: "public", onlyWithAdminToken: true },
  signIn: { method: "POST", path: "/_admin/sign-in", access: "public", onlyWithAdminToken: true },
  /** Public, so that it also works when the session has expired. */
  signOut: { method: "POST", path: "/_admin/sign-out", access: "public", onlyWithAdminToken: true },
  admin: { method: "GET", path: "/_admin/", access: "identity" },
  /** Redirects `/_admin` to the page `/_admin/`. */
  adminBare: { method: "GET", path: "/_admin", access: "identity" },
  tenantsPage: { method: "GET", path: "/_admin/chats", access: "identity" },
  tenantChoose: { method: "POST", path: "/_admin/chats", access: "identity" },
  devicesPage: { method: "GET", path: "/_admin/devices", access: "identity" },
  devicesApprove: { method: "POST", path: "/_admin/devices/approve", access: "identity" },
  devicesReject: { method: "POST", path: "/_admin/devices/reject", access: "identity" },
  accessGrant: { method: "POST", path: "/_admin/devices/grant", access: "identity" },
  devicesRevoke: { method: "POST", path: "/_admin/devices/revoke", access: "identity" },
  peopleRevoke: { method: "POST", path: "/_admin/devices/revoke-person", access: "identity" },
  searchPage: { method: "GET", path: "/_admin/search", access: "identity" },
  undo: { method: "POST", path: "/_admin/undo", access: "identity" },
  wake: { method: "POST", path: "/_admin/wake", access: "identity" },
  changes: { method: "GET", path: "/_admin/api/changes", access: "identity" },
  activityPage: { method: "GET", path: "/_admin/activity", access: "identity" },
  rolloutsPage: { method: "GET", path: "/_admin/rollouts", access: "identity" },
  aboutPage: { method: "GET", path: "/_admin/about", access: "identity" },
  ledgerPage: { method: "GET", path: "/_admin/ledger", access: "identity" },
  ledgerEvent: { method: "GET", path: "/_admin/ledger/event", access: "identity" },
  ledgerEventText: { method: "POST", path: "/_admin/ledger/event", access: "identity" },
  ledgerPageReplay: { method: "POST", path: "/_admin/ledger/replay", access: "identity" },
  logsPage: { method: "GET", path: "/_admin/logs", access: "identity" },
  logsDownload: { method: "GET", path: "/_admin/logs/download", access: "identity" },
  channelsPage: { method: "GET", path: "/_admin/channels", access: "identity" },
  channelsTest: { method: "POST", path: "/_admin/channels/test", access: "identity" },
  workspacePage: { method: "GET", path: "/_admin/workspace", access: "identity" },
  workspaceFile: { method: "GET", path: "/_admin/workspace/file", access: "identity" },
  workspaceSave: { method: "POST", path: "/_admin/workspace/save", access: "identity" },
  workspaceRemove: { method: "POST", path: "/_admin/workspace/remove", access: "identity" },
  modelsPage: { method: "GET", path: "/_admin/models", access: "identity" },
  modelsTest: { method: "POST", path: "/_admin/models/test", access: "identity" },
  sessionsPage: { method: "GET", path: "/_admin/sessions", access: "identity" },
  sessionsReset: { method: "POST", path: "/_admin/sessions/reset", access: "identity" },
  sessionPage: { method: "GET", path: "/_admin/sessions/detail", access: "identity" },
  sessionMessages: { method: "POST", path: "/_admin/sessions/messages", access: "identity" },
  sessionsExport: { method: "POST", path: "/_admin/sessions/export", access: "identity" },
  sessionsDelete: { method: "POST", path: "/_admin/sessions/delete", access: "identity" },
  schedulesPage: { method: "GET", path: "/_admin/schedules", access: "identity" },
  schedulesAdd: { method: "POST", path: "/_admin/schedules/add", access: "identity" },
  schedulesEditPage: { method: "GET", path: "/_admin/schedules/edit", access: "identity" },
  schedulesEdit: { method: "POST", path: "/_admin/schedules/edit", access: "identity" },
  schedulesPreview: { method: "POST", path: "/_admin/schedules/preview", access: "identity" },
  schedulesPause: { method: "POST", path: "/_admin/schedules/pause", access: "identity" },
  schedulesResume: { method: "POST", path: "/_admin/schedules/resume", access: "identity" },
  schedulesRun: { method: "POST", path: "/_admin/schedules/run", access: "identity" },
  schedulesRemove: { method: "POST", path: "/_admin/schedules/remove", access: "identity" },
  usageExport: { method: "GET", path: "/_admin/usage/export", access: "identity" },
  usagePage: { method: "GET", path: "/_admin/usage", access: "identity" },
  configPage: { method: "GET", path: "/_admin/config", access: "identity" },
  configEdit: { method: "GET", path: "/_admin/config/edit", access: "identity" },
  /** Goes back from the review to the editor, keeping the submitted text. */
  configEditOn: { method: "POST", path: "/_admin/config/edit", access: "identity" },
  configReview: { method: "POST", path: "/_admin/config/review", access: "identity" },
  configSave: { method: "POST", path: "/_admin/config/save", access: "identity" },
  configMend: { method: "GET", path: "/_admin/config/mend", access: "identity" },
  configMendNow: { method: "POST", path: "/_admin/config/mend", access: "identity" },
  configCheck: { method: "POST", path: "/_admin/config/check", access: "identity" },
  configLastGood: { method: "GET", path: "/_admin/config/last-good", access: "identity" },
  configAllowGroup: { method: "GET", path: "/_admin/config/allow-group", access: "identity" },
  configFreshPage: { method: "GET", path: "/_admin/config/fresh", access: "identity" },
  configFresh: { method: "POST", path: "/_admin/config/fresh", access: "identity" },
  backupsPage: { method: "GET", path: "/_admin/backups", access: "identity" },
  backupsCreate: { method: "POST", path: "/_admin/backups/create", access: "identity" },
  backupsVerify: { method: "POST", path: "/_admin/backups/verify", access: "identity" },
  backupsDownload: { method: "POST", path: "/_admin/backups/download", access: "identity" },
  backupsRestorePage: { method: "GET", path: "/_admin/backups/restore", access: "identity" },
  backupsRestore: { method: "POST", path: "/_admin/backups/restore", access: "identity" },
  restartPage: { method: "GET", path: "/_admin/restart", access: "identity" },
  restart: { method: "POST", path: "/_admin/restart", access: "identity" },
  cli: { method: "GET", path: "/debug/cli", access: "identity" },
  cliChange: { method: "POST", path: "/debug/cli", access: "identity" },
  logs: { method: "GET", path: "/debug/logs", access: "identity" },
  version: { method: "GET", path: "/debug/version", access: "identity" },
  ledger: { method: "GET", path: "/debug/ledger", access: "identity" },
  ledgerReplay: { method: "POST", path: "/_admin/api/ledger/replay", access: "identity" },
  metrics: { method: "GET", path: "/metrics", access: "identity" },
  metricsJson: { method: "GET", path: "/_admin/api/metrics", access: "identity" },
  processes: { method: "GET", path: "/debug/processes", access: "identity" },
  stackBackups: { method: "GET", path: "/stack/backups", access: "stack" },
  stackBackupsCreate: { method: "POST", path: "/stack/backups/create", access: "stack" },
  stackBackupsVerify: { method: "POST", path: "/stack/backups/verify", access: "stack" },
  stackAlerts: { method: "POST", path: "/stack/alerts", access: "stack" },
  /** The service redacts the record: see replay.ts. */
  stackReplay: { method: "POST", path: "/stack/replay", access: "stack" },
  stackChats: { method: "GET", path: "/stack/chats", access: "stack" },
  stackChannels: { method: "GET", path: "/stack/channels", access: "stack" },
  stackConfigVariables: { method: "GET", path: "/stack/config-variables", access: "stack" },
  brokerGet: { method: "GET", path: `${BROKER_PATH}/*`, access: "gateway" },
  brokerPost: { method: "POST", path: `${BROKER_PATH}/*`, access: "gateway" },
  brokerPut: { method: "PUT", path: `${BROKER_PATH}/*`, access: "gateway" },
  brokerPatch: { method: "PATCH", path: `${BROKER_PATH}/*`, access: "gateway" },
  containerConfig: { method: "GET", path: "/debug/container-config", access: "identity" },
} as const satisfies Record<string, Route>;

type RoutesOf = typeof ROUTES;

export type WebhookPath = {
  [Name in keyof RoutesOf]: RoutesOf[Name] extends { access: "webhook" } ? RoutesOf[Name]["path"] : never;
}[keyof RoutesOf];
