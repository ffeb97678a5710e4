package check_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/explain"
)

// FuzzCheck: no design makes the checker or its explanation panic, and its findings are the same each time.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"testdata/designs/*.yaml", "../../../../design/testdata/drafts/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := design.Parse("fuzz", text)
		if err != nil {
			return
		}
		if first, second := check.Check(d), check.Check(d); !reflect.DeepEqual(first, second) {
			t.Errorf("found first\n%sand then\n%s", show(first), show(second))
		}
		explain.All(d)
	})
}
