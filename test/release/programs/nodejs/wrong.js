import * as pulumi from "@pulumi/pulumi";
import * as steward from "steward-gateway/gateway";

const config = new pulumi.Config();
export const { url } = new steward.ServerlessGateway("wrong", {
  accountId: "mine",
  subdomain: "acme",
  hostname: "bot.acme.dev",
  instanceType: "huge",
  bucketOnDestroy: "empty",
  protectState: true,
  sleepAfter: "soon",
  access: { teamDomain: "no_host", operators: ["op@acme.com"] },
  models: { anthropicApiKey: config.requireSecret("anthropicApiKey") },
  slack: { botToken: config.requireSecret("slackBotToken") },
});
