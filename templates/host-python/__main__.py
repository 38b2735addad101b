import pulumi
import pulumi_steward as steward

config = pulumi.Config()

bot = steward.HostGateway(
    "bot",
    address="127.0.0.1",
    admin_token=config.require_secret("adminToken"),
    models={"anthropic_api_key": config.require_secret("anthropicApiKey")},
)

pulumi.export("url", bot.url)
pulumi.export("readiness", bot.readiness)
