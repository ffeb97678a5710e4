package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// downloads is the base URL of the release's files, the only address in the formula and the manifest.
const downloads = "https://github.com/monotable/monotable/releases/download"

// channels writes the Homebrew formula and the Scoop manifest, with the checksums of the archives.
func (r *release) channels() error {
	sums := map[target]string{}
	for _, t := range r.targets {
		sum, err := sha256File(r.path(r.archiveName(t)))
		if err != nil {
			return err
		}
		sums[t] = sum
	}
	if slices.ContainsFunc(r.targets, func(t target) bool { return t.os != "windows" }) {
		if err := r.writeFile(filepath.Join("homebrew", "monotable.rb"), r.formula(sums)); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(r.targets, func(t target) bool { return t.os == "windows" }) {
		return nil
	}
	manifest, err := json.MarshalIndent(r.scoop(sums), "", "    ")
	if err != nil {
		return err
	}
	return r.writeFile(filepath.Join("scoop", "monotable.json"), string(manifest)+"\n")
}

func (r *release) archiveName(t target) string {
	if t.os == "windows" {
		return fmt.Sprintf("monotable_%s_%s.zip", r.version, t)
	}
	return fmt.Sprintf("monotable_%s_%s.tar.gz", r.version, t)
}

func (r *release) url(t target) string { return downloads + "/v" + r.version + "/" + r.archiveName(t) }

func (r *release) writeFile(name, text string) error {
	file := r.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func (r *release) formula(sums map[target]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Written by make dist; DO NOT EDIT.
class Monotable < Formula
  desc "DynamoDB's API, durable, on your own machine"
  homepage "https://%s"
  version "%s"
  license "Apache-2.0"

`, module, r.version)
	for _, system := range []struct{ block, os string }{{"on_macos", "darwin"}, {"on_linux", "linux"}} {
		if !slices.ContainsFunc(r.targets, func(t target) bool { return t.os == system.os }) {
			continue
		}
		fmt.Fprintf(&b, "  %s do\n", system.block)
		for _, processor := range []struct{ block, arch string }{{"on_arm", "arm64"}, {"on_intel", "amd64"}} {
			t := target{system.os, processor.arch}
			if r.has(t) {
				fmt.Fprintf(&b, "    %s do\n      url \"%s\"\n      sha256 \"%s\"\n", processor.block, r.url(t), sums[t])
				b.WriteString("    end\n")
			}
		}
		b.WriteString("  end\n\n")
	}
	b.WriteString(`  def install
    bin.install "monotable"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/monotable.bash" => "monotable"
    zsh_completion.install "completions/_monotable"
    fish_completion.install "completions/monotable.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/monotable version")
`)
	b.WriteString("  end\n")
	b.WriteString("end\n")
	return b.String()
}

func (r *release) scoop(sums map[target]string) any {
	type download struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
		Dir  string `json:"extract_dir"`
	}
	architecture := map[string]download{}
	for name, t := range map[string]target{"64bit": {"windows", "amd64"}, "arm64": {"windows", "arm64"}} {
		if r.has(t) {
			architecture[name] = download{r.url(t), sums[t], fmt.Sprintf("monotable_%s_%s", r.version, t)}
		}
	}
	return struct {
		Version      string              `json:"version"`
		Description  string              `json:"description"`
		Homepage     string              `json:"homepage"`
		License      string              `json:"license"`
		Architecture map[string]download `json:"architecture"`
		Bin          string              `json:"bin"`
	}{r.version, "DynamoDB's API, durable, on your own machine", "https://" + module, "Apache-2.0", architecture, "monotable.exe"}
}
