module github.com/terraform-providers/terraform-provider-docker/shim

go 1.25.8

require (
	github.com/hashicorp/terraform-plugin-sdk/v2 v2.40.1
	github.com/terraform-providers/terraform-provider-docker v0.0.0
)

replace (
	github.com/hashicorp/terraform-plugin-sdk/v2 => github.com/pulumi/terraform-plugin-sdk/v2 v2.0.0-20260318212141-5525259d096b
	github.com/terraform-providers/terraform-provider-docker => github.com/kreuzwerker/terraform-provider-docker v0.0.0-20260916201441-96d331c98ff4
)
