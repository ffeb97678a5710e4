//go:build unix

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestProgramIsCompiledLikeARelease: the Makefile compiles the program that is measured with the tags and variables of
// tools/dist, which is another module.
func TestProgramIsCompiledLikeARelease(t *testing.T) {
	release, err := os.ReadFile("../tools/dist/build.go")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(makefile), "\nbin/monotable-release:\n")
	recipe, _, _ = strings.Cut(recipe, "\n")
	for _, setting := range []string{`\btags = "([^"]+)"`, `"(CGO_ENABLED=\d)"`, `"(GOAMD64=v\d)"`, `"(-trimpath)"`} {
		found := regexp.MustCompile(setting).FindSubmatch(release)
		if found == nil {
			t.Errorf("tools/dist/build.go has nothing like %s", setting)
		} else if !strings.Contains(recipe, string(found[1])) {
			t.Errorf("the Makefile compiles bin/monotable-release without %s", found[1])
		}
	}
}
