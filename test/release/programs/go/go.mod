module bot

go 1.24

require (
	github.com/example/steward/sdk/go/steward v0.0.0
	github.com/pulumi/pulumi/sdk/v3 v3.250.0
)

replace github.com/example/steward/sdk/go/steward => ../node_modules/steward-gateway/sdk/go/steward
