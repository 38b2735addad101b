//go:build hosts

// Package hosts pins the last version of Pulumi's SDK whose language hosts are modules that a proxy serves.
package hosts

import (
	_ "github.com/pulumi/pulumi/sdk/v3/go/pulumi-language-go"
	_ "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python"
)
