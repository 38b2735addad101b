module github.com/example/steward/sdk/go/steward

go 1.24

require github.com/pulumi/pulumi/sdk/v3 v3.250.0
