package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wheelPlatforms are the platform tags of wheels. The binaries are static, so they run on any Linux of the last ten years.
var wheelPlatforms = map[target]string{
	{"linux", "amd64"}: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", {"linux", "arm64"}: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	{"darwin", "amd64"}: "macosx_11_0_x86_64", {"darwin", "arm64"}: "macosx_11_0_arm64",
	{"windows", "amd64"}: "win_amd64", {"windows", "arm64"}: "win_arm64",
}

// python packs a wheel for each target: the module monotable with the binary. The format is the "Binary distribution format" of
// the Python packaging user guide; it needs no build tool.
func (r *release) python() error {
	if err := os.MkdirAll(r.path("python"), 0o755); err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.wheel(t); err != nil {
			return err
		}
	}
	return nil
}

// pythonVersion converts the version to PEP 440: 1.2.0-rc.1 is 1.2.0rc1, 0.1.0-dev is 0.1.0.dev0.
func pythonVersion(version string) string {
	base, suffix, _ := strings.Cut(version, "-")
	if suffix == "dev" {
		return base + ".dev0"
	}
	return base + strings.ReplaceAll(suffix, ".", "")
}

func (r *release) wheel(t target) error {
	version := pythonVersion(r.version)
	info := "monotable-" + version + ".dist-info/"
	readme, err := os.ReadFile(filepath.Join(r.root, "packaging", "python", "README.md"))
	if err != nil {
		return err
	}
	var tags, record strings.Builder
	for platform := range strings.SplitSeq(wheelPlatforms[t], ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", platform)
	}
	texts := map[string]string{
		info + "METADATA": "Metadata-Version: 2.1\nName: monotable\nVersion: " + version + "\nSummary: DynamoDB's API, durable, on your own machine, with fixtures for pytest\n" +
			"Home-page: https://" + module + "\nLicense: Apache-2.0\nClassifier: Framework :: Pytest\nRequires-Python: >=3.9\nProvides-Extra: boto3\n" +
			"Requires-Dist: boto3; extra == \"boto3\"\nDescription-Content-Type: text/markdown\n\n" + string(readme),
		info + "WHEEL":            "Wheel-Version: 1.0\nGenerator: monotable-dist\nRoot-Is-Purelib: false\n" + tags.String(),
		info + "entry_points.txt": "[console_scripts]\nmonotable = monotable:main\n\n[pytest11]\nmonotable = monotable.pytest_plugin\n",
	}
	files := map[string]string{"monotable/bin/" + t.exe(): r.program(t), info + "LICENSE": filepath.Join(r.root, "LICENSE")}
	for _, name := range []string{"__init__.py", "__main__.py", "pytest_plugin.py", "py.typed"} {
		files["monotable/"+name] = filepath.Join(r.root, "packaging", "python", "monotable", name)
	}
	dir := r.built("python", t.String())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	keep := func(name, text string) error {
		files[name] = filepath.Join(dir, filepath.Base(name))
		return os.WriteFile(files[name], []byte(text), 0o644)
	}
	for name, text := range texts {
		if err := keep(name, text); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
	}
	if err := keep(info+"RECORD", record.String()+info+"RECORD,,\n"); err != nil {
		return err
	}
	return r.writeArchive(r.path("python", fmt.Sprintf("monotable-%s-py3-none-%s.whl", version, wheelPlatforms[t])), "", files)
}
