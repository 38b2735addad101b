import * as pulumi from "@pulumi/pulumi";
import * as steward from "steward-gateway/gateway";

const config = new pulumi.Config();
const support = new steward.ServerlessGateway("support", {
  accountId: config.require("accountId"),
  cloudflare: { apiToken: config.requireSecret("apiToken"), baseUrl: config.require("baseUrl") },
  subdomain: "acme",
  origin: config.require("origin"),
  sleepAfter: config.require("sleepAfter"),
  models: { anthropicApiKey: config.requireSecret("anthropicApiKey") },
  slack: {
    botToken: config.requireSecret("slackBotToken"),
    signingSecret: config.requireSecret("slackSigningSecret"),
  },
  access: { teamDomain: config.require("teamDomain"), operators: ["op@acme.com"] },
  endpoints: { anthropic: config.require("anthropic"), slack: config.require("slack") },
});

export const { url, readiness } = support;
