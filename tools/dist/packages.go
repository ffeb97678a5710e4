package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// packages writes a .deb and an .rpm for each Linux target, with the binary, its manual, its completions and a unit for
// systemd. They run no scripts, so they do not start it.
func (r *release) packages() error {
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		for _, format := range []struct {
			packager nfpm.Packager
			name     string
		}{{deb.Default, "deb"}, {rpm.DefaultRPM, "rpm"}} {
			if err := r.writePackage(t, format.packager, format.name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) writePackage(t target, packager nfpm.Packager, format string) (err error) {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "monotable", Arch: t.arch, Platform: "linux", Version: r.version, MTime: r.time,
		Maintainer: "The monotable authors <maintainers@monotable.invalid>", License: "Apache-2.0", Homepage: "https://" + module,
		Section: "database", Priority: "optional",
		Description: "DynamoDB's API, durable, on your own machine\n" +
			"A database with DynamoDB's API for AWS SDKs and the AWS CLI, and tools that\ncheck, explain and provision single-table designs.",
		Overridables: nfpm.Overridables{Contents: r.packageContents(t, format), RPM: nfpm.RPM{BuildHost: "monotable"}},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	w, err := os.Create(r.path(packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return packager.Package(info, w)
}

func (r *release) packageContents(t target, format string) files.Contents {
	content := func(source, destination string, mode os.FileMode) *files.Content {
		return &files.Content{Source: source, Destination: destination, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.time, Owner: "root", Group: "root"}}
	}
	completions := r.built("manual", "completions")
	zsh := "/usr/share/zsh/site-functions/_monotable"
	if format == "deb" {
		zsh = "/usr/share/zsh/vendor-completions/_monotable" // Debian's own, beside zsh's
	}
	contents := files.Contents{
		content(r.program(t), "/usr/bin/monotable", 0o755),
		content(filepath.Join(completions, "monotable.bash"), "/usr/share/bash-completion/completions/monotable", 0o644),
		content(filepath.Join(completions, "_monotable"), zsh, 0o644),
		content(filepath.Join(completions, "monotable.fish"), "/usr/share/fish/vendor_completions.d/monotable.fish", 0o644),
		content(filepath.Join(r.root, "tools", "dist", "monotable.service"), "/usr/lib/systemd/system/monotable.service", 0o644),
		content(filepath.Join(r.root, "LICENSE"), "/usr/share/doc/monotable/copyright", 0o644),
	}
	pages, _ := filepath.Glob(r.built("manual", "man", "*.1"))
	for _, page := range pages {
		contents = append(contents, content(page, "/usr/share/man/man1/"+strings.ToLower(filepath.Base(page)), 0o644))
	}
	return contents
}
