// Writes the SDK of a language from a package's schema, which it reads from standard input: `sdk LANGUAGE FOLDER`.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// The generator leaves it out. Of Pulumi's SDK it has the oldest version that the package is tested with.
const goModule = `module github.com/example/steward/sdk/go/steward

go 1.24

require github.com/pulumi/pulumi/sdk/v3 v3.250.0
`

// Pulumi would otherwise look for the provider on its own server. Pulumi.yaml says where it is.
const noDownload = `{"resource": false, "name": "steward"}
`

const pythonReadme = `# pulumi_steward

The components of steward for Pulumi programs in Python. The provider that they need is in the npm package steward-gateway.
`

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(language, folder string) error {
	var spec schema.PackageSpec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); err != nil {
		return err
	}
	pkg, err := schema.ImportSpec(spec, nil, schema.NewNullLoader(), schema.ValidationOptions{})
	if err != nil {
		return err
	}
	var files map[string][]byte
	var own map[string]string
	switch language {
	case "python":
		files, err = python.GeneratePackage("steward", pkg, nil, nil)
		own = map[string]string{"pulumi_steward/pulumi-plugin.json": noDownload, "README.md": pythonReadme}
	case "go":
		files, err = gogen.GeneratePackage("steward", pkg, nil)
		own = map[string]string{"steward/pulumi-plugin.json": noDownload, "steward/go.mod": goModule}
	default:
		return fmt.Errorf("no SDK for %s", language)
	}
	if err != nil {
		return err
	}
	for name, text := range own {
		files[name] = []byte(text)
	}
	for name, text := range files {
		place := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(place, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
