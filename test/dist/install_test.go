package dist

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packaged lists the files that both Linux packages install.
var packaged = []string{
	"usr/bin/monotable",
	"usr/lib/systemd/system/monotable.service",
	"usr/share/bash-completion/completions/monotable",
	"usr/share/doc/monotable/copyright",
	"usr/share/man/man1/monotable.1",
	"usr/share/man/man1/monotable-serve.1",
}

// TestDebianPackage installs the package with dpkg in an empty root, runs the program, and purges the package.
func TestDebianPackage(t *testing.T) {
	dir, into := built(t), installRoot(t)
	file := only(t, filepath.Join(dir, "monotable_*_amd64.deb"))
	mkdir(t, filepath.Join(into, "var", "lib", "dpkg", "info"))
	mkdir(t, filepath.Join(into, "var", "lib", "dpkg", "updates"))
	write(t, filepath.Join(into, "var", "lib", "dpkg"), "status", "")
	dpkg := func(args ...string) string {
		t.Helper()
		return run(t, dir, nil, "dpkg", append([]string{"--root=" + into}, args...)...)
	}
	dpkg("--install", file)
	status := dpkg("--status", "monotable")
	for _, field := range []string{"Status: install ok installed\n", "Architecture: amd64\n"} {
		if !strings.Contains(status, field) {
			t.Errorf("%s is missing in the status:\n%s", strings.TrimSpace(field), status)
		}
	}
	if strings.Contains(status, "\nDepends:") {
		t.Errorf("the program is static and needs no other package:\n%s", status)
	}
	checkInstalled(t, into, append(packaged, "usr/share/zsh/vendor-completions/_monotable", "usr/share/fish/vendor_completions.d/monotable.fish"))
	if changed := dpkg("--verify", "monotable"); changed != "" {
		t.Errorf("dpkg finds files that differ from the package:\n%s", changed)
	}
	dpkg("--purge", "monotable")
	checkRemoved(t, into)
}

// TestRPMPackage does the same with rpm.
func TestRPMPackage(t *testing.T) {
	dir, into := built(t), installRoot(t)
	file := only(t, filepath.Join(dir, "monotable-*.x86_64.rpm"))
	rpm := func(args ...string) string {
		t.Helper()
		return run(t, dir, nil, "rpm", append([]string{"--root=" + into}, args...)...)
	}
	rpm("--initdb")
	rpm("--install", file)
	if info := rpm("--query", "--queryformat", "%{NAME} %{ARCH} %{LICENSE} %{OS}", "monotable"); info != "monotable x86_64 Apache-2.0 linux" {
		t.Errorf("rpm describes the package as %q", info)
	}
	for requirement := range strings.Lines(rpm("--query", "--requires", "monotable")) {
		if !strings.HasPrefix(requirement, "rpmlib(") { // features of rpm itself
			t.Errorf("the program is static, but the package requires %s", requirement)
		}
	}
	if scripts := rpm("--query", "--scripts", "monotable"); scripts != "" {
		t.Errorf("the package runs scripts:\n%s", scripts)
	}
	checkInstalled(t, into, append(packaged, "usr/share/zsh/site-functions/_monotable", "usr/share/fish/vendor_completions.d/monotable.fish"))
	if changed := rpm("--verify", "monotable"); changed != "" {
		t.Errorf("rpm finds files that differ from the package:\n%s", changed)
	}
	rpm("--erase", "monotable")
	checkRemoved(t, into)
}

// installRoot returns an empty directory for a package manager that runs as root.
func installRoot(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: files belong to root")
	}
	return t.TempDir()
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
}

// checkInstalled runs the installed program, reads every manual page with man, and checks that files exist.
func checkInstalled(t *testing.T, into string, files []string) {
	t.Helper()
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(into, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkProgram(t, filepath.Join(into, "usr", "bin", "monotable"))
	pages, err := filepath.Glob(filepath.Join(into, "usr", "share", "man", "man1", "*"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d manual pages, %v", len(pages), err)
	}
}

// checkProgram checks the version that a program prints.
func checkProgram(t *testing.T, program string) {
	t.Helper()
	var said struct {
		Version, Commit string
		Format          int
	}
	if err := json.Unmarshal([]byte(run(t, t.TempDir(), nil, program, "version", "--json")), &said); err != nil {
		t.Fatal(err)
	}
	if said.Version == "" || len(said.Commit) != 40 || said.Format == 0 {
		t.Errorf("%s version says %+v", program, said)
	}
}

// checkRemoved checks that removing the package has left none of its files.
func checkRemoved(t *testing.T, into string) {
	t.Helper()
	var left []string
	err := filepath.WalkDir(into, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Contains(entry.Name(), "monotable") {
			left = append(left, path)
		}
		return err
	})
	if err != nil || len(left) > 0 {
		t.Errorf("after removal there are still %v (%v)", slices.Sorted(slices.Values(left)), err)
	}
}
