import type { ErrorText } from "./error-text.ts";

export const ACCESS_ERRORS = {
  identity_required: {
    status: 403,
    title: "Sign in first",
    cause: "The request carries no identity that this route accepts.",
    fix: "Sign in through the identity gateway; if that fails, check its team domain, audience tag and policy. On a host without one, sign in with ADMIN_TOKEN (steward:adminToken).",
  },
  sign_in_refused: {
    status: 403,
    title: "This is not the admin token",
    cause: "The token is not this deployment's ADMIN_TOKEN.",
    fix: "Enter the value of ADMIN_TOKEN (steward:adminToken).",
  },
  sign_in_limited: {
    status: 429,
    title: "Too many wrong tokens",
    cause: "Too many wrong tokens came from this address within a minute.",
    fix: ({ pulumi }) =>
      `Enter the right token: it is accepted in spite of this limit. \`${pulumi("config get", "steward:adminToken")}\` prints it.`,
  },
  access_not_configured: {
    status: 500,
    title: "Missing identity gateway settings",
    cause: "EDGE_ACCESS_AUD or EDGE_ACCESS_TEAM_DOMAIN is missing.",
    fix: "Set EDGE_ACCESS_AUD and EDGE_ACCESS_TEAM_DOMAIN, then deploy again. On a host without an identity gateway set ADMIN_TOKEN (steward:adminToken) instead.",
  },
  access_misconfigured: {
    status: 500,
    title: "The identity gateway is misconfigured",
    cause: "EDGE_ACCESS_TEAM_DOMAIN names this service's own host, or is not a team domain.",
    fix: "Set EDGE_ACCESS_TEAM_DOMAIN to the identity gateway's team domain.",
  },
  access_unreachable: {
    status: 503,
    title: "The identity gateway's keys cannot be fetched",
    cause: "The identity gateway did not return its signing keys.",
    fix: "Check EDGE_ACCESS_TEAM_DOMAIN and that the identity gateway is up, then try again.",
  },
  cross_site: {
    status: 403,
    title: "Cross-site requests are refused",
    cause: "A page on another site may have made this request.",
    fix: 'Open the address directly. From a program, send the address of this service in the Origin header (curl -H "Origin: https://…").',
  },
  change_unproven: {
    status: 403,
    title: "Send this command with a token or as a POST request",
    cause: "Another site's page could have made a browser send this request.",
    fix: 'Send a service token or ADMIN_TOKEN as a Bearer token, or send `cmd` in a POST request whose Origin header is the address of this service (curl -H "Origin: https://…" --data-urlencode "cmd=…").',
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    cause: "This client or identity sent more requests than are allowed in a minute.",
    fix: "Wait as long as the Retry-After header says. Events signed by a platform are not limited.",
  },
  control_refused: {
    status: 401,
    title: "The control token is not valid",
    cause: "The request carries no valid control token.",
    fix: "Only the edge may use this port.",
  },
  gateway_token_refused: {
    status: 401,
    title: "The gateway token is not valid",
    cause: "The request has no valid gateway token, or the config contains none.",
    fix: "Set gateway.token in the config, and send it as a Bearer token in the Authorization header.",
  },
  webhooks_private: {
    status: 401,
    title: "Webhook routes are not public",
    cause: "This deployment runs with PUBLIC_WEBHOOKS=false.",
    fix: "Set PUBLIC_WEBHOOKS to true (steward:publicWebhooks) and deploy again.",
  },
  replay_not_allowed: {
    status: 403,
    title: "Events may not be replayed",
    cause: "The running service keeps no past events to replay, because steward:replayEvents is 0.",
    fix: ({ configSet, script }) =>
      `Run \`${configSet("steward:replayEvents", "100")}\`, then \`${script("rollout")}\`. From then on, rollouts replay past events.`,
  },
} as const satisfies Record<string, ErrorText>;
