// Package shim hands out the upstream Docker provider.
//
// Upstream keeps it in an internal package. Go lets a package import another's internal one when their import
// paths share the root, which is the only reason for this module's name.
package shim

import (
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/terraform-providers/terraform-provider-docker/internal/provider"
)

// New returns the part of the upstream provider that is written against the plugin SDK: every resource that
// @pulumi/docker maps. The one resource beyond it, docker_compose, is not in that package.
func New(version string) *schema.Provider {
	return provider.New(version)()
}
