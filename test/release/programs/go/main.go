package main

import (
	"github.com/example/steward/sdk/go/steward"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		conf := config.New(ctx, "")
		sleepAfter, origin := conf.Require("sleepAfter"), conf.Require("origin")
		anthropic, slack := conf.Require("anthropic"), conf.Require("slack")
		salesOrigin := conf.Require("salesOrigin")
		accountId := pulumi.String(conf.Require("accountId"))
		account := steward.CloudflareArgs{
			ApiToken: conf.RequireSecret("apiToken"),
			BaseUrl:  pulumi.String(conf.Require("baseUrl")),
		}
		models := steward.ModelsArgs{AnthropicApiKey: conf.RequireSecret("anthropicApiKey")}
		support, err := steward.NewServerlessGateway(ctx, "support", &steward.ServerlessGatewayArgs{
			AccountId:  accountId,
			Cloudflare: account,
			Subdomain:  pulumi.String("example"),
			Origin:     &origin,
			SleepAfter: &sleepAfter,
			Models:     models,
			Slack: steward.SlackAppArgs{
				BotToken:      conf.RequireSecret("slackBotToken"),
				SigningSecret: conf.RequireSecret("slackSigningSecret"),
			},
			Access: steward.ServerlessAccessArgs{
				TeamDomain: pulumi.String(conf.Require("teamDomain")),
				Operators:  pulumi.StringArray{pulumi.String("op@acme.com")},
			},
			Endpoints: steward.EndpointsArgs{Anthropic: &anthropic, Slack: &slack},
		})
		if err != nil {
			return err
		}
		sales, err := steward.NewServerlessGateway(ctx, "sales", &steward.ServerlessGatewayArgs{
			AccountId:  accountId,
			Cloudflare: account,
			Subdomain:  pulumi.String("example"),
			Origin:     &salesOrigin,
			Models:     models,
			Endpoints:  steward.EndpointsArgs{Anthropic: &anthropic},
		})
		if err != nil {
			return err
		}
		ctx.Export("url", support.Url)
		ctx.Export("readiness", support.Readiness)
		ctx.Export("salesUrl", sales.Url)
		return nil
	})
}
