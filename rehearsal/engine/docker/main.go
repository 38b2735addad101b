// Command pulumi-resource-docker serves the resources of @pulumi/docker from the upstream Terraform provider.
//
// The official plugin is a download that a machine with package registries alone can't reach. This one is made the
// same way, upstream's provider behind Pulumi's bridge, without what the official one adds by hand (docker.Image):
// an image is built with docker.RemoteImage.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfgen"
	shimv2 "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	"github.com/terraform-providers/terraform-provider-docker/shim"
)

// version is the version of the @pulumi/docker package that this plugin answers to, set by the linker.
var version = "0.0.0"

// resources maps upstream's names to those of the package, where a name is also the module's.
var resources = map[string]string{
	"docker_buildx_builder": "BuildxBuilder",
	"docker_config":         "ServiceConfig",
	"docker_container":      "Container",
	"docker_image":          "RemoteImage",
	"docker_network":        "Network",
	"docker_plugin":         "Plugin",
	"docker_registry_image": "RegistryImage",
	"docker_secret":         "Secret",
	"docker_service":        "Service",
	"docker_tag":            "Tag",
	"docker_volume":         "Volume",
}

// functions does the same for data sources.
var functions = map[string]string{
	"docker_image":                    "getRemoteImage",
	"docker_logs":                     "getLogs",
	"docker_network":                  "getNetwork",
	"docker_plugin":                   "getPlugin",
	"docker_registry_image":           "getRegistryImage",
	"docker_registry_image_manifests": "getRegistryImageManifests",
}

func main() {
	info := provider()
	sink := diag.DefaultSink(os.Stderr, os.Stderr, diag.FormatOptions{Color: colors.Never})
	generated, err := tfgen.GenerateSchemaWithOptions(tfgen.GenerateSchemaOptions{
		ProviderInfo:    info,
		DiagnosticsSink: sink,
		// The other way looks for upstream's documentation on disk, by calls of Go, at every start.
		XInMemoryDocs: true,
	})
	if err != nil {
		log.Fatalf("deriving the schema of the docker provider: %v", err)
	}
	schema, err := json.Marshal(generated.PackageSpec)
	if err != nil {
		log.Fatalf("writing the schema of the docker provider: %v", err)
	}
	tfbridge.Main("docker", version, info, schema)
}

func provider() tfbridge.ProviderInfo {
	info := tfbridge.ProviderInfo{
		P:           shimv2.NewProvider(shim.New(version)),
		Name:        "docker",
		Version:     version,
		Resources:   map[string]*tfbridge.ResourceInfo{},
		DataSources: map[string]*tfbridge.DataSourceInfo{},
	}
	for upstream, name := range resources {
		info.Resources[upstream] = &tfbridge.ResourceInfo{Tok: tfbridge.MakeResource("docker", "index", name)}
	}
	for upstream, name := range functions {
		info.DataSources[upstream] = &tfbridge.DataSourceInfo{Tok: tfbridge.MakeDataSource("docker", "index", name)}
	}
	container := info.Resources["docker_container"]
	// Name and ports belong to one container at a time.
	container.DeleteBeforeReplace = true
	// The package keeps these two in the singular, though both are lists.
	container.Fields = map[string]*tfbridge.SchemaInfo{
		"command":           {Name: "command"},
		"networks_advanced": {Name: "networksAdvanced"},
	}
	return info
}
