import pulumi
import pulumi_steward as steward

config = pulumi.Config()
account_id = config.require("accountId")
cloudflare = {"api_token": config.require_secret("apiToken"), "base_url": config.require("baseUrl")}
models = {"anthropic_api_key": config.require_secret("anthropicApiKey")}
support = steward.ServerlessGateway(
    "support",
    account_id=account_id,
    cloudflare=cloudflare,
    subdomain="example",
    origin=config.require("origin"),
    sleep_after=config.require("sleepAfter"),
    models=models,
    slack={
        "bot_token": config.require_secret("slackBotToken"),
        "signing_secret": config.require_secret("slackSigningSecret"),
    },
    access={"team_domain": config.require("teamDomain"), "operators": ["op@acme.com"]},
    endpoints={"anthropic": config.require("anthropic"), "slack": config.require("slack")},
)
sales = steward.ServerlessGateway(
    "sales",
    account_id=account_id,
    cloudflare=cloudflare,
    subdomain="example",
    origin=config.require("salesOrigin"),
    models=models,
    endpoints={"anthropic": config.require("anthropic")},
)
pulumi.export("url", support.url)
pulumi.export("readiness", support.readiness)
pulumi.export("salesUrl", sales.url)
