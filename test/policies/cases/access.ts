import { sample, WEBHOOKS } from "../resources.ts";
import { TYPES } from "../../../policies/reading/resource.ts";
import { adding, all, bound, named, props, without, type Case } from "./case.ts";

const HOST = "steward.example.workers.dev";
const destinations = (...paths: string[]) => ({
  destinations: paths.map((path) => ({ type: "public", uri: `${HOST}${path}` })),
});
const PUBLIC = [...WEBHOOKS, "/healthz"];
const ONLY = `only ${WEBHOOKS.join(", ")} and /healthz are public`;
const [FIRST_WEBHOOK = "", ...OTHER_WEBHOOKS] = WEBHOOKS;
const AUDIENCE =
  "EDGE_ACCESS_AUD is not the audience of this stack's Access application. Bind the application's aud.";

export const ACCESS_CASES: readonly Case[] = [
  {
    rule: "team-domain-is-foreign",
    what: "refuses the host that the Access application stands before",
    change: bound("EDGE_ACCESS_TEAM_DOMAIN", { text: HOST }),
    messages: [
      `EDGE_ACCESS_TEAM_DOMAIN is the Worker's own host ${HOST}. Set steward:teamDomain to <team>.cloudflareaccess.com.`,
    ],
  },
  {
    rule: "team-domain-is-foreign",
    what: "refuses the Worker's own domain",
    change: all(
      adding(sample(TYPES.workersDomain, "own", { hostname: "steward.example.com" })),
      bound("EDGE_ACCESS_TEAM_DOMAIN", { text: "https://steward.example.com" }),
    ),
    messages: [
      "EDGE_ACCESS_TEAM_DOMAIN is the Worker's own host steward.example.com. Set steward:teamDomain to <team>.cloudflareaccess.com.",
    ],
  },
  {
    rule: "audience-from-application",
    what: "refuses an audience that somebody typed",
    change: bound("EDGE_ACCESS_AUD", { text: "0123456789abcdef" }),
    messages: [AUDIENCE],
  },
  {
    rule: "audience-from-application",
    what: "passes the application's audience once it is known",
    change: all(
      props("gate", { aud: "0123456789abcdef" }),
      bound("EDGE_ACCESS_AUD", { text: "0123456789abcdef" }),
    ),
    messages: [],
  },
  {
    rule: "audience-from-application",
    what: "refuses the audience of the application that lets everyone pass",
    change: all(
      props("public", { aud: "0123456789abcdef" }),
      bound("EDGE_ACCESS_AUD", { text: "0123456789abcdef" }),
    ),
    messages: [AUDIENCE],
  },
  {
    rule: "audience-from-application",
    what: "refuses an audience that is not known yet and comes from elsewhere",
    change: (samples) => void (named(samples, "current").sources = { bindings: ["bucket"] }),
    messages: [AUDIENCE],
  },
  {
    rule: "audience-from-application",
    what: "refuses a team domain without an audience",
    change: bound("EDGE_ACCESS_AUD", { text: "" }),
    messages: [
      "EDGE_ACCESS_TEAM_DOMAIN is set without EDGE_ACCESS_AUD. Bind the aud of the Access application.",
    ],
  },
  {
    rule: "private-routes-gated",
    what: "refuses a path that no destination takes in",
    change: props("gate", destinations("/_admin*", "/debug/cli", "/debug/logs*")),
    messages: [
      `/debug/version, /debug/ledger, /metrics, /debug/processes, /debug/container-config of ${HOST} is not behind an Access application. Add destinations that cover these paths.`,
    ],
  },
  {
    rule: "private-routes-gated",
    what: "does not count a destination of the application that lets everyone pass",
    change: all(
      props("gate", destinations("/_admin*", "/debug*")),
      props("public", destinations(...PUBLIC, "/metrics")),
    ),
    messages: [
      `/metrics of ${HOST} is not behind an Access application. Add destinations that cover these paths.`,
    ],
  },
  {
    rule: "private-routes-gated",
    what: "refuses a domain of the Worker that no application takes in whole",
    change: all(
      adding(sample(TYPES.workersDomain, "own", { hostname: "steward.example.com" })),
      props("gate", {
        destinations: [
          { type: "public", uri: HOST },
          { type: "public", uri: "steward.example.com/_admin*" },
          { type: "public", uri: "steward.example.com/debug*" },
        ],
      }),
    ),
    messages: [
      "/metrics of steward.example.com is not behind an Access application. Add destinations that cover these paths.",
    ],
  },
  {
    rule: "private-routes-gated",
    what: "passes a stack without a team domain, whose admin pages are closed",
    change: all(bound("EDGE_ACCESS_TEAM_DOMAIN", { text: "" }), without("gate", "public")),
    messages: [],
  },
  {
    rule: "public-routes-exact",
    what: "refuses a path too many",
    change: props("public", destinations(...PUBLIC, "/debug/cli")),
    messages: [`${HOST}/debug/cli is open to everyone. Remove the destination: ${ONLY}.`],
  },
  {
    rule: "public-routes-exact",
    what: "refuses a path that takes in more than itself",
    change: props("public", destinations("/*", ...PUBLIC)),
    messages: [`${HOST}/* is open to everyone. Remove the destination: ${ONLY}.`],
  },
  {
    rule: "public-routes-exact",
    what: "refuses a webhook that is not let pass",
    change: props("public", destinations(...OTHER_WEBHOOKS, "/healthz")),
    messages: [
      `${FIRST_WEBHOOK} cannot be reached without an identity. Add it to the destinations of the application with the bypass policy.`,
    ],
  },
  {
    rule: "public-routes-exact",
    what: "refuses a public webhook with PUBLIC_WEBHOOKS=false",
    change: all(
      bound("PUBLIC_WEBHOOKS", { text: "false" }),
      props("public", destinations("/slack/events", "/healthz")),
    ),
    messages: [`${HOST}/slack/events is open to everyone. Remove the destination: only /healthz is public.`],
  },
  {
    rule: "public-routes-exact",
    what: "passes a gate without exceptions with PUBLIC_WEBHOOKS=false",
    change: all(bound("PUBLIC_WEBHOOKS", { text: "false" }), without("public")),
    messages: [],
  },
  {
    rule: "no-everyone-allowed",
    what: "refuses everyone in an allow policy",
    change: props("operators", { includes: [{ email: { email: "op@example.com" } }, { everyone: {} }] }),
    messages: [
      'The policy "operators" allows everyone. Include the operators\' e-mail addresses instead: steward:operators.',
    ],
  },
  {
    rule: "no-everyone-allowed",
    what: "refuses everyone in a policy of the application's own",
    change: props("gate", { policies: [{ decision: "allow", includes: [{ everyone: {} }] }] }),
    messages: [
      "A policy allows everyone. Include the operators' e-mail addresses instead: steward:operators.",
    ],
  },
];
