package dist

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// releaseArchive is an archive of the program: its file, and its name without the extension.
type releaseArchive struct{ file, name, os, arch string }

// archives returns the archives of the program in the release.
func archives(t *testing.T) (found []releaseArchive) {
	t.Helper()
	name := regexp.MustCompile(`^(monotable_.+_(linux|darwin|windows)_(amd64|arm64))\.(tar\.gz|zip)$`)
	entries, err := os.ReadDir(built(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if m := name.FindStringSubmatch(entry.Name()); m != nil {
			found = append(found, releaseArchive{filepath.Join(built(t), entry.Name()), m[1], m[2], m[3]})
		}
	}
	if len(found) == 0 {
		t.Fatal("the release has no archives")
	}
	return found
}

// largest is more than the size of the program, and less than its size if the linker keeps every method
// (docs/decisions/0052-delivery.md).
const largest = 62_000_000

// TestArchives unpacks the archive of each system: its files are below one directory, and its program is for that system.
func TestArchives(t *testing.T) {
	for _, archive := range archives(t) {
		t.Run(archive.os+"_"+archive.arch, func(t *testing.T) {
			dir := filepath.Join(unpackArchive(t, archive.file), archive.name)
			for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "man/monotable-serve.1", "completions/_monotable", "completions/monotable.bash", "completions/monotable.fish"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
			program := filepath.Join(dir, "monotable")
			if archive.os == "windows" {
				program += ".exe"
			}
			if info, err := os.Stat(program); err != nil || info.Mode().Perm()&0o111 == 0 {
				t.Errorf("%v, %v; want an executable file", info, err)
			} else if info.Size() > largest {
				t.Errorf("the program has %d bytes, more than %d", info.Size(), largest)
			}
			if system, arch := programFor(t, program); system != archive.os || arch != archive.arch {
				t.Errorf("the program is for %s on %s", system, arch)
			}
		})
	}
}

// TestSystems unpacks the archive of each system, if the release has them, and checks that `sam deploy` finds the file named by
// the template, a program for Lambda.
func TestSystems(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(built(t), "*_lambda_arm64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the release has no systems: make dist-test DISTPARTS=all")
	}
	if len(files) != 5 {
		t.Errorf("the release has %d systems", len(files))
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "_")
		t.Run(name, func(t *testing.T) {
			dir := unpackArchive(t, file)
			for _, beside := range []string{"LICENSE", "README.md", name + ".design.yaml"} {
				if _, err := os.Stat(filepath.Join(dir, beside)); err != nil {
					t.Error(err)
				}
			}
			template, err := os.ReadFile(filepath.Join(dir, "template.yaml"))
			if err != nil || !strings.Contains(string(template), "CodeUri: dist/\n") || !strings.Contains(string(template), "- arm64\n") {
				t.Errorf("the template has no function in dist/ for arm64 (%v)", err)
			}
			program := filepath.Join(dir, "dist", "bootstrap")
			if info, err := os.Stat(program); err != nil || info.Mode().Perm()&0o111 == 0 {
				t.Errorf("%v, %v; want an executable file", info, err)
			}
			if system, arch := programFor(t, program); system != "linux" || arch != "arm64" {
				t.Errorf("the program is for %s on %s", system, arch)
			}
		})
	}
}

// unpackArchive unpacks a .tar.gz or .zip into a new directory and returns it.
func unpackArchive(t *testing.T, file string) string {
	t.Helper()
	into := t.TempDir()
	if !strings.HasSuffix(file, ".zip") {
		run(t, into, nil, "tar", "-xzf", file)
		return into
	}
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	if err := os.CopyFS(into, archive); err != nil {
		t.Fatal(err)
	}
	return into
}

// programFor reads an executable's header.
func programFor(t *testing.T, file string) (system, arch string) {
	t.Helper()
	if f, err := elf.Open(file); err == nil {
		return "linux", map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	}
	if f, err := macho.Open(file); err == nil {
		return "darwin", map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	}
	f, err := pe.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return "windows", map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
}

// sums maps the names in checksums.txt to their SHA-256.
func sums(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(built(t), "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		found[name] = sum
	}
	return found
}

// TestFormula evaluates the Homebrew formula for each system with testdata/formula.rb, which implements the methods of Homebrew's
// Formula Cookbook that it calls, and installs it from the archive for this machine.
func TestFormula(t *testing.T) {
	formula := filepath.Join(built(t), "homebrew", "monotable.rb")
	if said := run(t, built(t), nil, "ruby", "-wc", formula); !strings.Contains(said, "Syntax OK") || strings.Contains(said, "warning") {
		t.Errorf("ruby -wc: %s", said)
	}
	stub := absolute(t, filepath.Join("testdata", "formula.rb"))
	for _, archive := range archives(t) {
		if archive.os == "windows" {
			continue
		}
		t.Run(archive.os+"_"+archive.arch, func(t *testing.T) {
			var said struct{ URL, SHA256, Version, License, Desc, Homepage string }
			if err := json.Unmarshal([]byte(run(t, built(t), nil, "ruby", stub, formula, archive.os, archive.arch)), &said); err != nil {
				t.Fatal(err)
			}
			file := filepath.Base(archive.file)
			if !strings.HasSuffix(said.URL, "/v"+said.Version+"/"+file) || said.SHA256 != sums(t)[file] {
				t.Errorf("the formula downloads %s with checksum %s", said.URL, said.SHA256)
			}
			if said.License != "Apache-2.0" || said.Homepage == "" || said.Desc == "" || len(said.Desc) > 80 {
				t.Errorf("the formula describes itself as %+v", said)
			}
			if archive.os != "linux" || archive.arch != "amd64" {
				return
			}
			prefix := t.TempDir()
			run(t, filepath.Join(unpackArchive(t, archive.file), archive.name), nil, "ruby", stub, formula, archive.os, archive.arch, prefix)
			checkProgram(t, filepath.Join(prefix, "bin", "monotable"))
			for _, name := range []string{
				"share/man/man1/monotable-serve.1", "etc/bash_completion.d/monotable", "share/zsh/site-functions/_monotable", "share/fish/vendor_completions.d/monotable.fish",
			} {
				if _, err := os.Stat(filepath.Join(prefix, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestScoop checks the manifest against Scoop's page App Manifests and the rules of its schema.json: required fields, no
// unknown ones, a SHA-256 in hexadecimal per download, and a directory and a program that the archive contains.
func TestScoop(t *testing.T) {
	if !slices.ContainsFunc(archives(t), func(a releaseArchive) bool { return a.os == "windows" }) {
		t.Skip("the release has no program for Windows")
	}
	data, err := os.ReadFile(filepath.Join(built(t), "scoop", "monotable.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Version, Description, Homepage, License, Bin string
		Architecture                                 map[string]struct {
			URL, Hash  string
			ExtractDir string `json:"extract_dir"`
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Version == "" || !strings.HasPrefix(manifest.Homepage, "https://") || manifest.License != "Apache-2.0" || manifest.Description == "" {
		t.Errorf("a required field is empty: %+v", manifest)
	}
	hash := regexp.MustCompile(`^[0-9a-f]{64}$`)
	names := map[string]string{"amd64": "64bit", "arm64": "arm64"}
	windows := 0
	for _, archive := range archives(t) {
		if archive.os != "windows" {
			continue
		}
		windows++
		file, download := filepath.Base(archive.file), manifest.Architecture[names[archive.arch]]
		if !strings.HasSuffix(download.URL, "/v"+manifest.Version+"/"+file) || download.Hash != sums(t)[file] || !hash.MatchString(download.Hash) {
			t.Errorf("%s is downloaded as %+v", file, download)
		}
		if !hasEntry(t, archive.file, download.ExtractDir+"/"+manifest.Bin) {
			t.Errorf("%s has no %s in %s", file, manifest.Bin, download.ExtractDir)
		}
	}
	if len(manifest.Architecture) != windows {
		t.Errorf("%d downloads for %d archives", len(manifest.Architecture), windows)
	}
}

// hasEntry reports whether a zip archive has a nonempty file with a name.
func hasEntry(t *testing.T, file, name string) bool {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	f, err := archive.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	n, err := io.CopyN(io.Discard, f, 1)
	return err == nil && n == 1
}
