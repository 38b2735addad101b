/**
 * The rows of the specification's sections 4 to 7. Each has a journey in journeys.ts, or a test elsewhere that walks it
 * where it happens: at a deployment, or where nothing from outside produces the symptom.
 */
export const ROWS = {
  "4 GET /": "a response when the service is up, 502 while the container is not ready",
  "4 GET /_admin/": "lists devices and pairing requests",
  "4 GET /debug/cli": "reads a file, lists devices, approves a pairing",
  "4 GET /debug/container-config": "a property config with the container's configuration",
  "4 GET /debug/processes": "describes processes, with their logs if asked",
  "4 POST /slack/events":
    "the challenge, else 503 while the gateway is down, and never 401 on a public route",
  "4 POST /telegram-webhook": "used when Telegram is set to a webhook by hand",
  "5.1 identity": "access needs an authorised identity",
  "5.2 settings": "the service needs EDGE_ACCESS_TEAM_DOMAIN and EDGE_ACCESS_AUD",
  "5.3 public webhooks": "public routes answer 503 while down, the unmodified deployment 401",
  "5.4 model provider": "reached with its API key",
  "5.5 Slack's token": "an expired one takes a reinstalled app's new one",
  "5.6 Telegram's token": "set as TELEGRAM_BOT_TOKEN",
  "6 URL verification": "answered with the challenge",
  "6 Slack's events": "forwarded to the gateway, 503 if it is down",
  "6 Telegram's updates": "delivered when the webhook is configured with this URL",
  // No rows of the specification's own: what becomes of an event that is not answered, and of other secrets.
  "6 a secret of the operator's own":
    "a config that names a missing one is refused everywhere, with those that exist",
  "6 a group that nobody has listed":
    "its message is ignored with the reason, and its group added by a click",
  "7 Invalid config": "delete the cached config, restart",
  "7 orphaned application": "change the Worker's name, increment the tag, deploy",
  "7 401 on webhook routes": "use the variant with public routes",
  "7 403 on /_admin/": "correct team domain, audience tag and policy",
  "7 502 Bad Gateway": "wait for the cold start; inspect logs",
  "7 503 on webhook route": "inspect logs and processes",
  "7 EDGE_ACCESS_AUD is not configured": "set EDGE_ACCESS_AUD and EDGE_ACCESS_TEAM_DOMAIN",
  "7 host port in use": "stop the other process, or map a different port",
  "7 container keeps restarting": "check logs, remove the config file, restart",
  "7 permission denied on the volume": "fix ownership",
  "7 TELEGRAM_DM_POLICY is set": "remove it, or set it to empty",
  "7 Telegram's bot does not respond": "check the token",
  "7 Slack's URL verification failed": "the test POST returns the challenge; public routes",
  "7 Slack's token expired": "reinstall the app",
  "7 invalid model key": "correct and set the secret again",
  "7 rate limit exceeded": "wait a few minutes",
  "7 model not available": "use a model of the account's tier",
  "7 devices load for ever": "read the pending pairing file and approve via /debug/cli",
  "7 changes do not take effect": "remove the build, rebuild, deploy",
} as const;

/** The name of a row. */
export type Row = keyof typeof ROWS;

/** Where a row is walked that no running deployment can show: a test's file and its title. */
export const ELSEWHERE: Partial<Record<Row, { file: string; test: string }>> = {
  "7 orphaned application": {
    file: "test/stacks/serverless.engine.test.ts",
    test: "finds an orphaned container application in the preview, and its advice helps",
  },
  "7 host port in use": {
    file: "test/stacks/host-preflight.system.test.ts",
    test: "names the container that holds the port, and asks about the port's address",
  },
  "7 permission denied on the volume": {
    file: "test/stacks/host-preflight.system.test.ts",
    test: "names the rights of a directory that the container's user cannot write, and takes one that it can",
  },
  "7 devices load for ever": {
    file: "test/runtime/edge/devices.test.ts",
    test: "shows what the files tell within 10 s where the command line hangs",
  },
  "7 changes do not take effect": {
    file: "test/infra/readiness/probe.system.test.ts",
    test: "waits until the bundle answers that was deployed, and fails where it is another one",
  },
};
