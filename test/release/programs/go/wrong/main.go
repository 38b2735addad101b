package main

import (
	"github.com/example/steward/sdk/go/steward"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		conf := config.New(ctx, "")
		size, onDestroy, protect := steward.InstanceType("huge"), steward.BucketOnDestroyEmpty, true
		sleepAfter := "soon"
		_, err := steward.NewServerlessGateway(ctx, "wrong", &steward.ServerlessGatewayArgs{
			AccountId:       pulumi.String("mine"),
			Subdomain:       pulumi.String("acme"),
			Hostname:        pulumi.String("bot.acme.dev"),
			InstanceType:    &size,
			BucketOnDestroy: &onDestroy,
			ProtectState:    &protect,
			SleepAfter:      &sleepAfter,
			Access: steward.ServerlessAccessArgs{
				TeamDomain: pulumi.String("no_host"),
				Operators:  pulumi.StringArray{pulumi.String("op@acme.com")},
			},
			Models: steward.ModelsArgs{AnthropicApiKey: conf.RequireSecret("anthropicApiKey")},
			Slack:  steward.SlackAppArgs{BotToken: conf.RequireSecret("slackBotToken")},
		})
		return err
	})
}
