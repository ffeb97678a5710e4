package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM lists the modules linked into a binary, according to its build information, as CycloneDX JSON. It has no serial
// number and no time, because they would differ between builds.
func (r *release) writeSBOM(binary, name, file string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	sum, err := sha256File(binary)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "pkg:golang/" + module + "@v" + r.version, Type: cdx.ComponentTypeApplication, Name: name, Version: r.version,
		PackageURL: "pkg:golang/" + module + "@v" + r.version,
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}},
		Properties: &[]cdx.Property{{Name: "vcs.revision", Value: r.commit}},
	}}
	components := []cdx.Component{{
		BOMRef: "pkg:golang/std@" + info.GoVersion, Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, dependency := range info.Deps {
		components = append(components, component(dependency))
	}
	bom.Components = &components
	w, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func component(dependency *debug.Module) cdx.Component {
	if dependency.Replace != nil {
		dependency = dependency.Replace
	}
	url := "pkg:golang/" + dependency.Path + "@" + dependency.Version
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: dependency.Path, Version: dependency.Version, PackageURL: url}
	// The h1 of go.sum is the SHA-256 of the list of the module's files.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(dependency.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
