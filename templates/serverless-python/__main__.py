import pulumi
import pulumi_steward as steward

config = pulumi.Config()
cloudflare = pulumi.Config("cloudflare")

bot = steward.ServerlessGateway(
    "bot",
    account_id=config.require("accountId"),
    cloudflare={"api_token": cloudflare.require_secret("apiToken")},
    subdomain=config.require("subdomain"),
    models={"anthropic_api_key": config.require_secret("anthropicApiKey")},
)

pulumi.export("url", bot.url)
pulumi.export("readiness", bot.readiness)
