// Package pipelines checks the systems' deployment workflows with actionlint, and their SAM templates against goformation's
// schema. It is a separate module, so that programs that import the database do not depend on these modules; it also needs a
// different YAML library than the schemas of Kubernetes.
package pipelines

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/rhysd/actionlint"
)

// TestPipelines: actionlint accepts the syntax, expressions and types of the systems' workflows, and the inputs of the actions it
// knows.
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
