package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

const (
	module = "github.com/monotable/monotable"
	// tags exclude gRPC's tracing pages, because their template engine makes the linker keep every method of every type, and pgx's table
	// of Go types, which is only used by query modes that postgreskv does not use.
	tags = "grpcnotrace,nopgxregisterdefaulttypes"
)

// systemNames are the five systems, each of which is an AWS Lambda function.
var systemNames = []string{"appcore", "catfecito", "portfolio", "transporteapp", "trinity"}

// manual writes the manual pages and completions into built("manual"). Its program is compiled with the same flags as monotable,
// so that the code for this machine's target is compiled only once.
func (r *release) manual() error {
	program := r.built("manual", "write")
	if err := r.compile(target{runtime.GOOS, runtime.GOARCH}, r.root, "./internal/tools/manual", program, "-tags="+tags, "-ldflags=-s -w"); err != nil {
		return err
	}
	_, err := output(r.root, program, r.built("manual"), r.version, r.time.Format(time.DateOnly))
	return err
}

// compile builds a static, stripped binary for a target, without paths of the build machine.
func (r *release) compile(t target, dir, pkg, file string, args ...string) error {
	args = append([]string{"build", "-trimpath", "-buildvcs=false", "-o", file}, args...)
	command := exec.CommandContext(context.Background(), "go", append(args, pkg)...)
	command.Dir, command.Stderr = dir, os.Stderr
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-mod=readonly")
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s for %s: %w", pkg, t, err)
	}
	return os.Chtimes(file, r.time, r.time)
}

func (r *release) compileMonotable(t target) error {
	ldflags := fmt.Sprintf("-s -w -buildid= -X %[1]s/internal/tools/cli.release=%[2]s -X %[1]s/internal/tools/cli.commit=%[3]s", module, r.version, r.commit)
	return r.compile(t, r.root, "./cmd/monotable", r.program(t), "-tags="+tags, "-pgo="+r.profile, "-ldflags="+ldflags)
}

// program returns the path of the monotable binary for a target.
func (r *release) program(t target) string { return r.built(t.String(), t.exe()) }

// binaries builds monotable for every target, with an archive and an SBOM for each.
func (r *release) binaries() error {
	for _, t := range r.targets {
		if err := r.compileMonotable(t); err != nil {
			return err
		}
		info, err := os.Stat(r.program(t))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("monotable_%s_%s", r.version, t)
		files, err := r.archiveFiles(t)
		if err != nil {
			return err
		}
		archive := name + ".tar.gz"
		if t.os == "windows" {
			archive = name + ".zip"
		}
		if err := r.writeArchive(r.path(archive), name, files); err != nil {
			return err
		}
		if err := r.writeSBOM(r.program(t), "monotable", r.path(archive+".cdx.json")); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "dist:   %-14s %5.1f MB\n", t, float64(info.Size())/1e6)
	}
	return nil
}

// archiveFiles maps the names in a binary's archive to the files on disk.
func (r *release) archiveFiles(t target) (map[string]string, error) {
	files := map[string]string{t.exe(): r.program(t)}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		files[name] = filepath.Join(r.root, name)
	}
	for _, dir := range []string{"man", "completions"} {
		entries, err := os.ReadDir(r.built("manual", dir))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			files[dir+"/"+entry.Name()] = r.built("manual", dir, entry.Name())
		}
	}
	return files, nil
}

// systems builds each system as the Lambda function that its template deploys.
func (r *release) systems() error {
	t := target{"linux", "arm64"}
	for _, name := range systemNames {
		dir, bootstrap := filepath.Join(r.root, "systems", name), r.built("systems", name, "bootstrap")
		if err := r.compile(t, r.root, "./systems/"+name+"/lambda", bootstrap, "-tags="+tags+",lambda.norpc", "-ldflags=-s -w -buildid="); err != nil {
			return err
		}
		archive := r.path(fmt.Sprintf("%s_%s_lambda_arm64.zip", name, r.version))
		if err := r.writeArchive(archive, "", map[string]string{
			"dist/bootstrap":      bootstrap,
			"template.yaml":       filepath.Join(dir, "lambda", "template.yaml"),
			name + ".design.yaml": filepath.Join(dir, name+".design.yaml"),
			"README.md":           filepath.Join(dir, "README.md"),
			"LICENSE":             filepath.Join(r.root, "LICENSE"),
		}); err != nil {
			return err
		}
		if err := r.writeSBOM(bootstrap, name, archive+".cdx.json"); err != nil {
			return err
		}
	}
	return nil
}
