// Command dist builds a complete release in a directory; docs/releasing.md describes its contents. It publishes nothing.
//
// Builds are reproducible: binaries are built with -trimpath and without VCS stamps, archives have sorted entries with the commit's time, and
// nothing depends on the machine except the Go version. `make dist-reproducible` verifies this.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release describes the release to build.
type release struct {
	version string
	commit  string
	time    time.Time // time of the commit, used for all files
	out     string    // absolute path of the output
	root    string    // root of the repository
	profile string    // a CPU profile for the compiler, or "off"
	targets []target
}

// target is a system that binaries are built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

// exe returns the name of the program on the target.
func (t target) exe() string {
	if t.os == "windows" {
		return "monotable.exe"
	}
	return "monotable"
}

var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// profileFile is relative to the repository's root. It is not the compiler's default file, because with a profile go build compiles
// all dependencies again.
const profileFile = "tools/dist/monotable.pgo"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	set := flag.NewFlagSet("dist", flag.ContinueOnError)
	version := set.String("version", "", "version without v (default: of the tag at HEAD, else 0.1.0-dev)")
	out := set.String("out", "dist", "directory to build into; it is emptied first")
	profile := set.String("pgo", profileFile, "CPU profile for the compiler, or off; make profile writes the default one")
	only := set.String("targets", "all", "comma-separated OS_ARCH, or all")
	parts := set.String("parts", "all", "comma-separated: binaries, systems, packages, image, npm, python, channels, or all; binaries are always built")
	if err := set.Parse(args); err != nil {
		return err
	}
	r, err := newRelease(*version, *out, *profile, *only)
	if err != nil {
		return err
	}
	want := func(part string) bool { return *parts == "all" || slices.Contains(strings.Split(*parts, ","), part) }
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"manual", r.manual},
		{"binaries", r.binaries},
		{"systems", r.systems},
		{"packages", r.packages},
		{"image", r.image},
		{"npm", r.npm},
		{"python", r.python},
		{"channels", r.channels},
		{"checksums", r.checksums},
	} {
		if !slices.Contains([]string{"manual", "binaries", "checksums"}, step.name) && !want(step.name) {
			continue
		}
		began := time.Now()
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(os.Stderr, "dist: %-10s %6.1f s\n", step.name, time.Since(began).Seconds())
	}
	return nil
}

func newRelease(version, out, profile, only string) (*release, error) {
	root, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	commit, err := output(root, "git", "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	seconds, err := output(root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	if version == "" {
		version = "0.1.0-dev"
		tags, err := output(root, "git", "tag", "--points-at", "HEAD", "--list", "v*", "--sort=-version:refname")
		if err != nil {
			return nil, err
		}
		if names := strings.Fields(tags); len(names) > 0 {
			version = strings.TrimPrefix(names[0], "v")
		}
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(root, out)
	}
	r := &release{version: version, commit: commit, time: time.Unix(unix, 0).UTC(), out: out, root: root, profile: profile}
	for _, t := range allTargets {
		if only == "all" || slices.Contains(strings.Split(only, ","), t.String()) {
			r.targets = append(r.targets, t)
		}
	}
	if len(r.targets) == 0 {
		return nil, fmt.Errorf("-targets %q: want some of %v", only, allTargets)
	}
	return r, errors.Join(os.RemoveAll(out), os.MkdirAll(filepath.Join(out, "build"), 0o755))
}

// path returns the path of a file or directory of the release.
func (r *release) path(parts ...string) string {
	return filepath.Join(append([]string{r.out}, parts...)...)
}

// built returns a directory for inputs of archives and packages, which are not part of the release themselves.
func (r *release) built(parts ...string) string {
	return r.path(append([]string{"build"}, parts...)...)
}

// has reports whether a target is built.
func (r *release) has(t target) bool { return slices.Contains(r.targets, t) }

// output runs a command in a directory and returns its output without the line end.
func output(dir, name string, args ...string) (string, error) {
	command := exec.CommandContext(context.Background(), name, args...) // an interrupt also reaches it
	command.Dir, command.Stderr = dir, os.Stderr
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
