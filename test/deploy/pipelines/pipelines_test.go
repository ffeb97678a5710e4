// Package pipelines checks the workflows that deploy the systems, with actionlint, and their SAM templates, against goformation's schema. It is
// a module of its own, so that programs which import the database do not get these modules; it needs another yaml than the schemas of
// Kubernetes do.
package pipelines

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/rhysd/actionlint"
)

// TestPipelines: the systems' workflows are what GitHub Actions takes, by its syntax, expressions and types, and by the inputs of the actions
// that actionlint knows.
func TestPipelines(t *testing.T) {
	files, err := filepath.Glob("../../../systems/*/lambda/pipeline.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows: %v", len(files), err)
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		found, err := linter.LintFile(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range found {
			t.Errorf("%s: %v", file, fault)
		}
	}
}
