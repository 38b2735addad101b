import pulumi
import pulumi_steward as steward

config = pulumi.Config()
steward.ServerlessGateway(
    "wrong",
    account_id="mine",
    subdomain="acme",
    hostname="bot.acme.dev",
    instance_type="huge",
    bucket_on_destroy="empty",
    protect_state=True,
    sleep_after="soon",
    access={"team_domain": "no_host", "operators": ["op@acme.com"]},
    models={"anthropic_api_key": config.require_secret("anthropicApiKey")},
    slack={"bot_token": config.require_secret("slackBotToken")},
)
