package generate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPage tests that docs/generate.md shows the design of test/generated/shop, and Go code from the example there, which is
// compiled and run.
func TestPage(t *testing.T) {
	read := func(path ...string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("docs", "generate.md")
	of := map[string]string{"yaml": read("test", "generated", "designs", "shop.design.yaml"), "go": read("test", "generated", "shop", "example_test.go")}
	met := map[string]int{}
	for _, fence := range regexp.MustCompile("(?ms)^```(yaml|go)\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		met[fence[1]]++
		if !strings.Contains(of[fence[1]], fence[2]) {
			t.Errorf("this is not compiled:\n%s", fence[2])
		}
	}
	if met["yaml"] != 1 || met["go"] < 5 {
		t.Errorf("the page has fences %v, want a design and its use", met)
	}
}
