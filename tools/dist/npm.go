package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// nodeNames are Node's names for operating systems and architectures.
var nodeNames = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64"}

// nodePackage is the part of package.json shared by both kinds of packages.
type nodePackage struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Homepage             string            `json:"homepage"`
	Repository           string            `json:"repository"`
	Engines              map[string]string `json:"engines"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Main                 string            `json:"main,omitempty"`
	Types                string            `json:"types,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Exports              map[string]any    `json:"exports,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

func (r *release) nodePackage(name, description string) nodePackage {
	return nodePackage{
		Name: name, Version: r.version, Description: description, License: "Apache-2.0", Homepage: "https://" + module,
		Repository: "git+https://" + module + ".git", Engines: map[string]string{"node": ">=20"},
	}
}

// npm packs the package monotable, and one package with the binary for each target. npm installs the one for the machine's os and
// cpu, so installing runs no scripts.
func (r *release) npm() error {
	if err := os.MkdirAll(r.path("npm"), 0o755); err != nil {
		return err
	}
	launcher := r.nodePackage("monotable", "DynamoDB's API, durable, on your own machine: the server, its tools, and databases for tests")
	launcher.Main, launcher.Types = "index.js", "index.d.ts"
	launcher.Bin = map[string]string{"monotable": "bin/monotable.js"}
	launcher.Exports = map[string]any{
		".":              map[string]string{"types": "./index.d.ts", "default": "./index.js"},
		"./testing":      map[string]string{"types": "./testing.d.ts", "default": "./testing.js"},
		"./package.json": "./package.json",
	}
	launcher.OptionalDependencies = map[string]string{}
	for _, t := range r.targets {
		system, processor := nodeNames[t.os], nodeNames[t.arch]
		p := r.nodePackage(fmt.Sprintf("@monotable/%s-%s", system, processor), fmt.Sprintf("The program monotable for %s on %s", system, processor))
		p.OS, p.CPU = []string{system}, []string{processor}
		launcher.OptionalDependencies[p.Name] = r.version
		if err := r.pack(p, map[string]string{"bin/" + t.exe(): r.program(t)}); err != nil {
			return err
		}
	}
	dir := filepath.Join(r.root, "packaging", "npm")
	files := map[string]string{}
	for _, name := range []string{"index.js", "index.d.ts", "testing.js", "testing.d.ts", "README.md", "bin/monotable.js"} {
		files[name] = filepath.Join(dir, name)
	}
	return r.pack(launcher, files)
}

// pack writes a package like npm pack: a .tgz with everything below package/.
func (r *release) pack(p nodePackage, files map[string]string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-")
	description := r.built("npm", name+".json")
	if err := os.MkdirAll(filepath.Dir(description), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(description, append(text, '\n'), 0o644); err != nil {
		return err
	}
	files["package.json"], files["LICENSE"] = description, filepath.Join(r.root, "LICENSE")
	return r.writeArchive(r.path("npm", fmt.Sprintf("%s-%s.tgz", name, r.version)), "package", files)
}
