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
		support, err := steward.NewServerlessGateway(ctx, "support", &steward.ServerlessGatewayArgs{
			AccountId: pulumi.String(conf.Require("accountId")),
			Cloudflare: steward.CloudflareArgs{
				ApiToken: conf.RequireSecret("apiToken"),
				BaseUrl:  pulumi.String(conf.Require("baseUrl")),
			},
			Subdomain:  pulumi.String("acme"),
			Origin:     &origin,
			SleepAfter: &sleepAfter,
			Models:     steward.ModelsArgs{AnthropicApiKey: conf.RequireSecret("anthropicApiKey")},
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
		ctx.Export("url", support.Url)
		ctx.Export("readiness", support.Readiness)
		return nil
	})
}
