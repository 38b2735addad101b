import * as pulumi from "@pulumi/pulumi";
import * as steward from "steward-gateway/gateway";

const config = new pulumi.Config();
const accountId = config.require("accountId");
const cloudflare = { apiToken: config.requireSecret("apiToken"), baseUrl: config.require("baseUrl") };
const models = { anthropicApiKey: config.requireSecret("anthropicApiKey") };
const support = new steward.ServerlessGateway("support", {
  accountId,
  cloudflare,
  subdomain: "example",
  origin: config.require("origin"),
  sleepAfter: config.require("sleepAfter"),
  models,
  slack: {
    botToken: config.requireSecret("slackBotToken"),
    signingSecret: config.requireSecret("slackSigningSecret"),
  },
  access: { teamDomain: config.require("teamDomain"), operators: ["op@acme.com"] },
  endpoints: { anthropic: config.require("anthropic"), slack: config.require("slack") },
});
const sales = new steward.ServerlessGateway("sales", {
  accountId,
  cloudflare,
  subdomain: "example",
  origin: config.require("salesOrigin"),
  models,
  endpoints: { anthropic: config.require("anthropic") },
});

export const { url, readiness } = support;
export const salesUrl = sales.url;
